# a lock that is stale after 3 s, held for 4, and touched after 2
until mkdir l 2>/dev/null; do
  now=$(date +%s); at=$(stat -c %Y l 2>/dev/null) || continue
  if [ $((now - at)) -gt 3 ]; then rmdir l; else sleep 2; fi
done
n=$(cat n)
sleep 2; touch l; sleep 2
echo $((n+1)) > n
rmdir l || :
