# A counter that is read, incremented and written back, three times.
echo 0 > n
for i in 1 2 3; do
	read x < n
	echo $((x + 1)) > n
	echo "round $i" >> log
done
read x < n
echo "n is $x"
[ -e missing ] || echo "nothing there"
[ -f n ] && [ ! -d n ] && echo "a file"
set -C
(echo again > n) 2>/dev/null || echo "not overwritten"
