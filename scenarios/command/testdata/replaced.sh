# Whoever finds a file that was replaced meanwhile says so.
a=$(stat -c %i f)
b=$(stat -c %i f)
[ "$a" = "$b" ] || echo replaced >seen
