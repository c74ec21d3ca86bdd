# who does not get the lock within 0.3 s goes on without; it is held for a tenth of a second
[ $(date +%s) -lt 1780000000 ] || : > late
i=0
until mkdir l 2>/dev/null; do
  [ $((i+=1)) = 3 ] && break
  sleep .1
done
n=$(cat n); sleep .1; echo $((n+1)) > n
rmdir l 2>/dev/null || :
