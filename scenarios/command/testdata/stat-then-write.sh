[ -e app.lock ] && exit 1
echo locked > app.lock
mkdir cs
rmdir cs
rm app.lock
