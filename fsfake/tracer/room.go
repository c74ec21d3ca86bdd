//go:build linux && amd64

package tracer

import (
	"math"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Room is about how many runs of a small program this process may have at once, going by what the system lets it
// have: a run takes a process, a thread and at most eight descriptors.
func Room() int {
	room := math.MaxInt
	bound := func(n uint64, each uint64) {
		if n/each < uint64(room) {
			room = int(n / each)
		}
	}
	for which, each := range map[int]uint64{unix.RLIMIT_NOFILE: 8, unix.RLIMIT_NPROC: 2} { // order does not matter: a minimum
		var l unix.Rlimit
		if unix.Getrlimit(which, &l) == nil {
			bound(l.Cur, each)
		}
	}
	for _, name := range []string{"/sys/fs/cgroup/pids.max", "/sys/fs/cgroup/pids/pids.max", "/proc/sys/kernel/pid_max"} {
		b, _ := os.ReadFile(name)
		if n, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 63); err == nil { // else "max", or there is none
			bound(n, 2)
		}
	}
	return room
}
