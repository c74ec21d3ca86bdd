# A new file in place of the old, which is gone before.
rm f
echo new >t
mv t f
