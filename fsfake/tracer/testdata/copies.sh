# Copies that keep modes and times, and programs that change files in place.
echo one > a; chmod 640 a; touch -d '2020-01-02 03:04:05 UTC' a
cp -p a b; stat -c '%a %Y' b
cp a c; install -m 600 a d; stat -c '%a' d
mkdir -p x/y; cp -r x z; cp -a a x/y; ls -R x z
sed -i s/one/two/ a; cat a
mv b x/; rm -r x/y; find x | sort
rm a; cp x/b a; ls x
ln -s a l; basename "$(readlink -f l)"; cp -P l m; readlink m; basename "$(realpath x/../a)"
truncate -s 3 a; head -c 10 /dev/zero | dd of=e bs=2 count=3 2>/dev/null; wc -c e
(cd x && basename "$(pwd)" && cat ../a); mkdir -m 700 q; rmdir q; touch w; chmod +x w; [ -x w ] && echo x
