# The usual tools.
mkdir -p a/b/c && touch a/one a/b/two
cat a/one > a/three; echo text > a/b/c/four
mv a/three a/b/five
ln -s ../one a/b/link && ln a/one a/hard
cat a/b/link; readlink a/b/link
cd a/b && pwd | sed 's/.*\/a/a/' && ls && echo here > c/six && cd ../..
find a | sort
mkdir copy; (cd copy && mkdir d && echo x > d/f && cd d && ls ..); rm -rf a && find copy -type f | sort
t=$(mktemp tmp.XXXXXX) && echo temp > "$t" && mv "$t" kept
rm -f copy/one missing; rmdir copy 2>/dev/null || echo "not empty"
[ -r kept ] && [ -w kept ] && [ ! -x kept ] && [ -s kept ] && echo "access"
chmod 700 kept; [ -x kept ] && echo "executable"
stat -c '%n %F' kept copy
touch -d @5 old; touch -m -d @7 old; stat -c '%X %Y' old; [ old -ot kept ] && echo older
