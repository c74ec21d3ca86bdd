# What bash does its own way.
declare -a names=(x y z)
for n in "${names[@]}"; do echo "$n" > "file-$n"; done
shopt -s nullglob
files=(file-*); echo "${#files[@]} files: ${files[*]}"
while read -r line; do echo "got $line"; done < <(cat file-x file-y)
mapfile -t all < file-z; echo "${all[0]}"
cat <<< "here" > here
exec {fd}< here; read -r -u "$fd" word; exec {fd}<&-; echo "$word"
trap 'echo bye' EXIT
( trap 'echo usr; exit 4' USR1; kill -USR1 $BASHPID; echo never ); echo "sub $?"
