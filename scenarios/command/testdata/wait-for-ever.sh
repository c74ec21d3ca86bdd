until mkdir counter.sh 2>/dev/null; do sleep 1; done
