# a counter under flock(1), and a line with the date in a log
exec 9>>l
flock 9
n=$(cat n); echo $((n+1)) > n
date > log
