package fsfake

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTimes says which of a file's times each call stamps: m and c for mtime and ctime, of
// the file and of the directory.
func TestTimes(t *testing.T) {
	for _, tt := range []struct {
		name      string
		op        Op
		file, dir string
	}{
		{"stat", Op{Call: CallStat, Path: "/d/f"}, "", ""},
		{"read", Op{Call: CallRead, FD: 3, Len: 9}, "", ""},
		{"open", Op{Call: CallOpen, Path: "/d/f", Flags: os.O_RDWR | os.O_CREATE}, "", ""},
		{"open truncating", Op{Call: CallOpen, Path: "/d/f", Flags: os.O_RDWR | os.O_TRUNC}, "mc", ""},
		{"open truncating an empty file", Op{Call: CallOpen, Path: "/d/empty", Flags: os.O_RDWR | os.O_TRUNC}, "mc", ""},
		{"create", Op{Call: CallOpen, Path: "/d/new", Flags: os.O_RDWR | os.O_CREATE}, "", "mc"},
		{"tmpfile", Op{Call: CallOpen, Path: "/d", Flags: os.O_RDWR | O_TMPFILE}, "", ""},
		{"write", Op{Call: CallWrite, FD: 3, Data: "x"}, "mc", ""},
		{"write of nothing", Op{Call: CallWrite, FD: 3}, "", ""},
		{"pwrite", Op{Call: CallPwrite, FD: 3, Data: "x"}, "mc", ""},
		{"ftruncate", Op{Call: CallFtruncate, FD: 3, Len: 1}, "mc", ""},
		{"ftruncate to its size", Op{Call: CallFtruncate, FD: 3, Len: 3}, "mc", ""},
		{"truncate", Op{Call: CallTruncate, Path: "/d/f", Len: 1}, "mc", ""},
		{"truncate to its size", Op{Call: CallTruncate, Path: "/d/f", Len: 3}, "mc", ""},
		{"unlink of a name", Op{Call: CallUnlink, Path: "/d/f2"}, "c", "mc"},
		{"unlink", Op{Call: CallUnlink, Path: "/d/empty"}, "", "mc"},
		{"link", Op{Call: CallLink, Path: "/d/f", Path2: "/d/f3"}, "c", "mc"},
		{"rename", Op{Call: CallRename, Path: "/d/f", Path2: "/d/g"}, "c", "mc"},
		{"rename away", Op{Call: CallRename, Path: "/d/f", Path2: "/g"}, "c", "mc"},
		{"rename over a name", Op{Call: CallRename, Path: "/d/empty", Path2: "/d/f2"}, "c", "mc"},
		{"rename of two names", Op{Call: CallRename, Path: "/d/f", Path2: "/d/f2"}, "", ""},
		{"exchange", Op{Call: CallRename, Path: "/d/f", Path2: "/d/empty", Flags: RENAME_EXCHANGE}, "c", "mc"},
		{"chmod", Op{Call: CallChmod, Path: "/d/f", Mode: 0o600}, "c", ""},
		{"chown", Op{Call: CallChown, Path: "/d/f", Off: -1, Len: -1}, "c", ""},
		{"lchown", Op{Call: CallLchown, Path: "/d/f", Off: -1, Len: -1}, "c", ""},
		{"fchmod", Op{Call: CallFchmod, FD: 3, Mode: 0o600}, "c", ""},
		{"fchown", Op{Call: CallFchown, FD: 3, Off: -1, Len: -1}, "c", ""},
		{"utimes", Op{Call: CallUtimes, Path: "/d/f"}, "c", ""},
		{"lutimes", Op{Call: CallLutimes, Path: "/d/f"}, "c", ""},
		{"futimes", Op{Call: CallFutimes, FD: 3}, "c", ""},
		{"mkdir", Op{Call: CallMkdir, Path: "/d/x", Mode: 0o755}, "", "mc"},
		{"rmdir", Op{Call: CallRmdir, Path: "/d/sub"}, "", "mc"},
		{"mkdir below", Op{Call: CallMkdir, Path: "/d/sub/x", Mode: 0o755}, "", ""},
		{"symlink", Op{Call: CallSymlink, Path: "/d/x", Path2: "f"}, "", "mc"},
		{"flock", Op{Call: CallFlock, FD: 3, Flags: LOCK_EX}, "", ""},
		{"fsync", Op{Call: CallFsync, FD: 3}, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, a, _ := pair()
			require.NoError(t, a.MkdirAll("/d/sub", 0o755))
			require.NoError(t, a.WriteFile("/d/f", []byte("abc"), 0o644))
			require.NoError(t, a.WriteFile("/d/empty", nil, 0o644))
			require.NoError(t, a.Link("/d/f", "/d/f2"))
			_, err := a.OpenFile("/d/f", os.O_RDWR, 0)
			require.NoError(t, err)
			file, _ := m.Lookup("/d/f")
			if tt.name == "open truncating an empty file" {
				file, _ = m.Lookup("/d/empty")
			}
			dir, _ := m.Lookup("/d")
			old := m.Now().UnixNano()
			m.Advance(1000)
			require.True(t, m.Do(Task{101, 1}, tt.op).OK())
			stamped := func(id InodeID) string {
				v, s := m.View(id), ""
				if v.Mtime == m.Now().UnixNano() {
					s += "m"
				}
				if v.Ctime == m.Now().UnixNano() {
					s += "c"
				}
				require.Equal(t, old, v.Btime)
				return s
			}
			require.Equal(t, tt.file, stamped(file), "the file's times")
			require.Equal(t, tt.dir, stamped(dir), "the directory's times")
		})
	}
}
