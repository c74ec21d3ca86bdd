until (set -C; : > app.lock) 2>/dev/null; do sleep 1; done
mkdir cs
rmdir cs
rm app.lock
