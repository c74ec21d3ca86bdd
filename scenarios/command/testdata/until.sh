end=$(($(date +%s)+3))
while [ "$(date +%s)" -lt $end ]; do sleep 1; done
read x < n
echo $((x+1)) > n
