get() {
	read x < n # makes: open fcntl dup close read
	echo $x
}

echo 1 > n # makes: open fcntl dup write close
if [ -e n ]; then # makes: stat faccessat access
	v=$(get) # makes: fork exit wait

	rm n # makes: fork exec exit wait stat lstat access unlink
fi
exec 9> lock # makes: open fcntl dup close
while mkdir d; do # makes: fork exec exit wait mkdir
	rmdir d & # makes: fork exec exit wait rmdir
	wait # makes: wait
	break
done
(
	echo x # makes: write exit
) > m # makes: open fcntl dup close fork wait
mv m n # makes: fork exec exit wait stat lstat access rename
