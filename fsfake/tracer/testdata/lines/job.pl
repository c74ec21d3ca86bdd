use strict;
use Fcntl qw(:flock);

sub get {
    open(my $f, '<', shift) or die;    # makes: open fstat lseek
    my $n = <$f>;                      # makes: read
    close $f;                          # makes: close
    return $n;
}

open(my $lock, '>', 'lock') or die;    # makes: open fstat lseek
flock($lock, LOCK_EX);                 # makes: flock
open(my $f, '>', 'n') or die;          # makes: open fstat lseek
print $f "1";
close $f;                              # makes: write close
my $n = get('n');
system 'rm', 'n';                      # makes: fork exec exit wait stat lstat access unlink
unlink 'lock';                         # makes: unlink lstat close (of the lock, at the end)
