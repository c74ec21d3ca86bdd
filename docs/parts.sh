#!/bin/sh
# Decide a space in parts, on one machine, with sort and awk: what docs/large.md says of "expand", in
# a few lines. Each part is a process that begins anew at each level; an engine that distributes
# lines of text does the same on many machines (docs/spark/decide.py).
#
#     docs/parts.sh ./lockpick 4 ctx/excl/contend --property mutual-exclusion
#
# It prints the verdict, how many states each part has expanded, what was written and what it took. With
# --in-order among the arguments states are expanded in the order of what their ways cost, so that the
# counterexample is the smallest.
set -eu
export LC_ALL=C

lockpick=$1 parts=$2
shift 2
case " $* " in *" --in-order "*) in_order=1 ;; *) in_order=0 ;; esac
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/cache"
expand() { "$lockpick" expand --cache "$dir/cache" "$@"; }

expand "$@" --first >"$dir/waiting" # the states that are known and not expanded, a line each
: >"$dir/known"                     # the keys of all states that are known, sorted
cut -d' ' -f1 "$dir/waiting" >"$dir/known"
: >"$dir/shown" # the last line of each process
bad='~'         # what the smallest violation costs; "~" comes after all that there are
states=0 levels=0 lines=0 bytes=0
while [ -s "$dir/waiting" ]; do
	levels=$((levels + 1))
	cost=
	if [ $in_order = 1 ]; then
		cost=$(cut -c34-47 "$dir/waiting" | sort | head -n 1)
		[ "$(printf '%s\n%s\n' "$cost" "$bad" | sort | head -n 1)" = "$cost" ] && [ "$cost" != "$bad" ] || break
	fi
	awk -v cost="$cost" -v dir="$dir" -v parts="$parts" '
		cost != "" && substr($2, 1, 14) != cost { print >(dir "/later"); next }
		{ # whose it is: the first six digits of its key, taken modulo the number of parts
			n = 0
			for (i = 1; i <= 6; i++) n = 16 * n + index("0123456789abcdef", substr($1, i, 1)) - 1
			print >(dir "/part-" n % parts)
		}' "$dir/waiting"
	: >>"$dir/later"
	for part in "$dir"/part-*; do
		states=$((states + $(wc -l <"$part")))
		wc -l <"$part" >>"$dir/count-${part##*-}"
		sort -k2 "$part" | expand "$@" >"$dir/out" # ways that begin alike are quick one after the other
		tail -n 1 "$dir/out" >>"$dir/shown"
		sed '$d' "$dir/out" >"$dir/successors"
		lines=$((lines + $(wc -l <"$dir/successors"))) bytes=$((bytes + $(wc -c <"$dir/successors")))
		cat "$dir/successors" >>"$dir/found"
		rm "$part"
	done
	# Of the lines with one key the one whose way is less, and of these only keys that are new, or that
	# wait with a way that is not less.
	sort "$dir/found" "$dir/later" | sort -u -k1,1 -s >"$dir/all"
	cut -d' ' -f1 "$dir/later" | sort >"$dir/late"
	comm -23 "$dir/known" "$dir/late" >"$dir/expanded"
	join -v1 "$dir/all" "$dir/expanded" >"$dir/waiting"
	cut -d' ' -f1 "$dir/waiting" | sort -u - "$dir/known" >"$dir/known-now"
	mv "$dir/known-now" "$dir/known"
	rm -f "$dir/found" "$dir/later"
	bad=$({ sed -n 's/.*"cost": *"\([^"]*\)".*/\1/p' "$dir/shown"; echo '~'; } | sort | head -n 1)
done
"$lockpick" merge --states "$states" "$dir/shown"
for count in "$dir"/count-*; do
	awk -v part="${count##*-}" '{ n += $1 } END { printf "part %s expanded %d states\n", part, n }' "$count"
done
echo "$states states in $levels levels, $lines lines of $bytes bytes between the parts; user and system time:"
times >"$dir/times" # a pipe would be a process of its own, which has taken none
tail -n 1 "$dir/times"
