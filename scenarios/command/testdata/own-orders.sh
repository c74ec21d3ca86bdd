# two children that leave f as whichever comes last has it; the first waits for a lock
( set -C; until { echo > l; } 2>/dev/null; do sleep .1; done; echo 1 >f.1; mv -f f.1 f; rm l)& (echo 2 >f.2; mv -f f.2 f)& wait
