package command

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"lockpick/fsfake/tracer"
)

// ownerOf is [File.Owner] of a real file.
func ownerOf(info fs.FileInfo) string {
	st, is := info.Sys().(*syscall.Stat_t)
	if !is || int(st.Uid) == os.Getuid() && int(st.Gid) == os.Getgid() {
		return ""
	}
	return fmt.Sprintf("%d:%d", st.Uid, st.Gid)
}

// idOf is what a real file is known by; false when there is none.
func idOf(name string) (id tracer.FileID, ok bool) {
	var st syscall.Stat_t
	err := syscall.Lstat(name, &st)
	return tracer.FileID{Dev: uint64(st.Dev), Ino: st.Ino}, err == nil
}

// makeNode makes a FIFO or a socket for real.
func makeNode(name string, mode uint32) error { return syscall.Mknod(name, mode, 0) }
