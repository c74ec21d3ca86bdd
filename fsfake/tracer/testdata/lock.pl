# A lock that looks before it writes.
exit 1 if -e "lock";
open(my $f, ">", "lock") or die;
print $f "me";
close $f;
mkdir "cs" or die; rmdir "cs" or die;
unlink "lock" or die;
print "done\n";
