package fsfake

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestVersion: a poller must not wake others, nor itself, by looking.
func TestVersion(t *testing.T) {
	for _, tt := range []struct {
		name    string
		op      Op
		changes bool
	}{
		{"stat", Op{Call: CallStat, Path: "/f"}, false},
		{"open", Op{Call: CallOpen, Path: "/f"}, false},
		{"a refused create", Op{Call: CallOpen, Path: "/f", Flags: os.O_CREATE | os.O_EXCL}, false},
		{"create", Op{Call: CallOpen, Path: "/new", Flags: os.O_CREATE | os.O_EXCL}, true},
		{"truncate", Op{Call: CallOpen, Path: "/f", Flags: os.O_RDWR | os.O_TRUNC}, true},
		{"read", Op{Call: CallRead, FD: 3, Len: 1}, false},
		{"read of a shared description", Op{Call: CallRead, FD: 4, Len: 1}, true},
		{"pread of one", Op{Call: CallPread, FD: 4, Len: 1}, false},
		{"readdir", Op{Call: CallReaddir, FD: 6}, false},
		{"close", Op{Call: CallClose, FD: 3}, false},
		{"close that drops a lock", Op{Call: CallClose, FD: 7}, true},
		{"write", Op{Call: CallWrite, FD: 3, Data: "x"}, true},
		{"write of nothing", Op{Call: CallWrite, FD: 3}, false},
		{"flock", Op{Call: CallFlock, FD: 3, Flags: LOCK_SH}, true},
		{"flock of what one has", Op{Call: CallFlock, FD: 7, Flags: LOCK_SH | LOCK_NB}, false},
		{"a refused flock", Op{Call: CallFlock, FD: 3, Flags: LOCK_EX | LOCK_NB}, false},
		{"a blocked flock", Op{Call: CallFlock, FD: 3, Flags: LOCK_EX}, false},
		{"a refused upgrade, which loses the lock", Op{Call: CallFlock, FD: 7, Flags: LOCK_EX | LOCK_NB}, true},
		{"a record lock", Op{Call: CallSetlk, FD: 3, Flags: F_WRLCK}, true},
		{"unlocking nothing", Op{Call: CallSetlk, FD: 3, Flags: F_UNLCK}, false},
		{"unlink", Op{Call: CallUnlink, Path: "/f"}, true},
		{"unlink of nothing", Op{Call: CallUnlink, Path: "/none"}, false},
		{"rename", Op{Call: CallRename, Path: "/f", Path2: "/g"}, true},
		{"chmod", Op{Call: CallChmod, Path: "/f", Mode: 0o600}, true},
		{"utimes", Op{Call: CallUtimes, Path: "/f"}, true},
		{"kill 0", Op{Call: CallKill, Pid: 102}, false},
		{"exit", Op{Call: CallExit}, true},
		{"fork", Op{Call: CallFork}, true},
		{"sleep", Op{Call: CallSleep, Time: 1}, false},
		{"now", Op{Call: CallNow}, false},
		{"store", Op{Call: CallCellStore, Cell: "c", Value: 1}, true},
		{"start", Op{Call: CallStart, Len: 2}, true},
		{"store of what is there", Op{Call: CallCellStore, Cell: "c"}, false},
		{"compare-and-swap", Op{Call: CallCellCAS, Cell: "c", Value: Swap{New: 1}}, true},
		{"compare-and-swap of another value", Op{Call: CallCellCAS, Cell: "c", Value: Swap{Old: 2, New: 1}}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, a, b := pair()
			require.NoError(t, a.WriteFile("/f", []byte("abc"), 0o644))
			require.NoError(t, second(a.OpenFile("/f", os.O_RDWR, 0)))
			shared, err := a.OpenFile("/f", os.O_RDWR, 0)
			require.NoError(t, err)
			require.NoError(t, second(shared.Dup()))
			require.NoError(t, second(a.Open("/")))
			locked, err := a.Open("/f")
			require.NoError(t, err)
			require.NoError(t, locked.Flock(LOCK_SH))
			other, err := b.Open("/f")
			require.NoError(t, err)
			require.NoError(t, other.Flock(LOCK_SH))
			before := m.Version()
			require.Empty(t, m.Do(Task{101, 1}, tt.op).Unmodelled)
			require.Equal(t, tt.changes, m.Version() != before)
		})
	}
}
