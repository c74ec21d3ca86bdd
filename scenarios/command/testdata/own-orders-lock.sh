set -C; until { echo > l; } 2>/dev/null; do sleep .1; done; rm l
