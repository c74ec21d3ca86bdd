# a counter under flock(1) that looks at the clock 60 times, each after a call; what took longer than 30 s gives up
exec 9>>l
flock 9
at=$(date +%s) i=0
while [ $i -lt 60 ]; do
  : >> log; now=$(date +%s)
  if [ $i -eq 37 ] && [ $((now - last)) -gt 30 ]; then exit 1; fi
  last=$now i=$((i+1))
done
n=$(cat n); echo $((n+1)) > n
