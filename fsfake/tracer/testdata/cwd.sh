# The working directory is a directory and not its name: it goes where others rename it to.
cd nowhere 2>/dev/null || cat ../nowhere 2>/dev/null || echo still at the top
mkdir -p d/sub && cd d/sub || exit 1
echo one > f
mv ../../d ../../e
basename "$(dirname "$(env pwd)")"
echo two >> f
cat ../sub/f ../../e/sub/f
(cd -P .. && ls && basename "$(env pwd)")
mkdir ../../d && echo other > ../../d/f
cat f
ln -s ../e/sub ../link && cd -P ../link && ls && basename "$(env pwd)"
mkdir deep && mv deep ../../top && ls ../..
find .. | sort
rm -r ../../top ../../d
