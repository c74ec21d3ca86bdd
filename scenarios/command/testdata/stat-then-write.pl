exit 1 if -e "app.lock";
open(my $f, ">", "app.lock") or die;
print $f $$;
close $f;
mkdir "cs" or die "cs: $!";
rmdir "cs";
unlink "app.lock";
