# flock(1) around a command, and on a descriptor of the shell.
flock lock sh -c 'echo inside; mkdir cs; rmdir cs'
exec 9> lock2
flock -n 9 && echo locked
flock -n lock2 true || echo "busy for others"
exec 9>&-
flock -n lock2 echo free
