set -C       # so that > makes the file or fails, without a program
exec 3< "$1" # a line of it for each attempt, which the shell reads byte by byte
while read -r x <&3; do true 2>/dev/null > lk && break; sleep 0.02; done
read n < n; set +C; echo $((n+1)) > n
rm lk
