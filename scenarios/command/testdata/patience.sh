# who does not get the lock within 2 s goes on without; it is held for 4
t=$(date +%s)
until mkdir l 2>/dev/null; do
  [ $(date +%s) -gt $((t+2)) ] && break
  sleep 1
done
n=$(cat n); sleep 4; echo $((n+1)) > n
rmdir l 2>/dev/null || :
