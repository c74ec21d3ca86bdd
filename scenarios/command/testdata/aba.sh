# Two readings agree if the file has one number before and after them; else nothing is said.
a=$(stat -c %i f 2>&1)
x=$(cat f 2>&1)
y=$(cat f 2>&1)
b=$(stat -c %i f 2>&1)
if [ "$a" = "$b" ] && [ "$x" != "$y" ]; then echo missed >seen; fi
