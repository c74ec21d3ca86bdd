# a lock that is taken over when it is older than 10 s, also from a holder who lives
until mkdir l 2>/dev/null; do
  now=$(date +%s); at=$(stat -c %Y l 2>/dev/null) || continue
  if [ $((now - at)) -gt 10 ]; then rmdir l; else sleep 1; fi
done
n=$(cat n); echo $((n+1)) > n
rmdir l
