# Children, pipes, redirections, exit statuses.
mkdir cs && echo made
mkdir cs 2>/dev/null || echo "no second time"
{ echo b; echo a; echo c; } > list
sort < list > sorted
cat sorted | tr a-z A-Z | sed 's/$/!/' > loud
cat loud
(exit 3); echo "status $?"
sh -c 'kill -9 $$'; echo "killed: $?"
x=$(wc -l < list); echo "lines:" $x
exec 5> five; echo one >&5; (echo two >&5); exec 5>&-
cat five
rmdir cs
true & wait $!; echo "waited $?"
exit 7
