use Fcntl;
my $f;
until (sysopen($f, "app.lock", O_CREAT | O_EXCL | O_WRONLY)) {
	die "app.lock: $!" unless $!{EEXIST};
	select(undef, undef, undef, 0.05);
}
close $f;
mkdir "cs" or die "cs: $!";
rmdir "cs";
unlink "app.lock";
