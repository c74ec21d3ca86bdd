# The lock is the file that the name means once it is locked: its holder removes it.
while :; do
	exec 9>>lock
	flock 9
	[ "$(stat -c %i lock 2>&1)" = "$(stat -L -c %i /proc/$$/fd/9)" ] && break
done
read -r n <n
echo $((n + 1)) >n
rm lock
