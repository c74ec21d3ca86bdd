read x < n
echo $((x+1)) > n
