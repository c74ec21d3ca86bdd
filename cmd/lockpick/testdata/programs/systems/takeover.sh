# takeover.sh [fixed]: a pid file whose owner is dead is removed and made anew, as
# github.com/openclaw/openclaw/pull/10283 reports it; fixed, under a kernel lock.
if [ "$1" ]; then
	exec 9> guard
	flock 9
fi
if ! (set -C; echo $$ > pid) 2>/dev/null; then
	read owner < pid || exit 75
	kill -0 "$owner" 2>/dev/null && exit 75
	rm -f pid
	(set -C; echo $$ > pid) 2>/dev/null || exit 75
fi
mkdir cs || exit 3
rmdir cs
[ "$1" ] || rm -f pid
