cat n | { read v; echo $((v+1)) > n; }
