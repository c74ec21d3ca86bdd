exec 3< "$1" # a line of it for each attempt, which the shell reads byte by byte
while read -r x <&3; do mkdir lk 2>/dev/null && break; sleep 0.02; done
n=$(cat n); echo $((n+1)) > n
rmdir lk
