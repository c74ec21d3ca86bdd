until mkdir lock.d 2>/dev/null; do sleep 1; done
read x < n
echo $((x+1)) > n
rmdir lock.d
