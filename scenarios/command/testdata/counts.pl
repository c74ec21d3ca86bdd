use Fcntl;
for $i (0 .. 150) { sysopen(L, "lk", O_CREAT | O_EXCL | O_WRONLY) and last; select undef, undef, undef, .02 }
open F, "n"; $n = <F>; open F, ">n"; print F $n + 1; close F; unlink "lk";
