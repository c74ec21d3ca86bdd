if [[ -e app.lock ]]; then exit 1; fi
echo $$ > app.lock
mkdir cs
rmdir cs
rm -f app.lock
