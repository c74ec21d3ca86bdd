//go:build linux

package kernel

import (
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
	"lockpick/fsfake"
)

// Import makes the disk as it is on a fake machine: every name, with contents, owners,
// permissions and times. It comes before the first process.
func (m *Machine) Import(f *fsfake.Machine) error {
	for _, pid := range f.Pids() {
		if len(f.FDs(pid)) > 0 {
			return fmt.Errorf("kernel: process %d of the fake has open files, which cannot be imported", pid)
		}
	}
	if err := m.format(); err != nil {
		return err
	}
	if err := os.Remove(m.root + "/tmp"); err != nil {
		return fmt.Errorf("kernel: emptying the disk: %w", err)
	}
	im := importer{m, f, map[fsfake.InodeID]string{}}
	root, _ := f.Lookup("/")
	if err := im.dir("", f.View(root)); err != nil {
		return fmt.Errorf("kernel: importing a fake's disk: %w", err)
	}
	return nil
}

type importer struct {
	m    *Machine
	f    *fsfake.Machine
	done map[fsfake.InodeID]string // where an inode is already
}

// dir makes what is in a directory, and then the directory itself look as it should:
// making names has changed it.
func (im *importer) dir(path string, v fsfake.FileView) error {
	for _, n := range v.Names {
		p := path + "/" + n
		id, ok := im.lookup(p)
		if !ok {
			return fmt.Errorf("%s has no inode", p)
		}
		if err := im.name(p, im.f.View(id)); err != nil {
			return err
		}
	}
	return im.attributes(path+"/", v)
}

// lookup finds the inode of a name without following it.
func (im *importer) lookup(p string) (fsfake.InodeID, bool) {
	r := im.f.Clone().Do(fsfake.Task{Pid: 1}, fsfake.Op{Call: fsfake.CallReadlink, Path: p})
	if r.Errno != 0 {
		return im.f.Lookup(p)
	}
	// Of a symlink the fake tells the inode only to those who open what it is in; its
	// target is all there is to know.
	return 0, true
}

func (im *importer) name(p string, v fsfake.FileView) error {
	real := im.m.root + p
	if old, ok := im.done[v.ID]; ok && v.ID != 0 {
		return os.Link(old, real)
	}
	im.done[v.ID] = real
	switch v.Kind {
	case fsfake.KindDir:
		if err := os.Mkdir(real, 0o700); err != nil {
			return err
		}
		return im.dir(p, v)
	case fsfake.KindFile:
		if err := os.WriteFile(real, []byte(v.Content), 0o600); err != nil {
			return err
		}
		return im.attributes(p, v)
	case fsfake.KindFIFO, fsfake.KindSocket:
		kind := map[fsfake.Kind]uint32{fsfake.KindFIFO: unix.S_IFIFO, fsfake.KindSocket: unix.S_IFSOCK}[v.Kind]
		if err := unix.Mknod(real, kind|0o600, 0); err != nil {
			return err
		}
		return im.attributes(p, v)
	}
	r := im.f.Clone().Do(fsfake.Task{Pid: 1}, fsfake.Op{Call: fsfake.CallReadlink, Path: p})
	c := caller{}
	if !im.m.Rooted() {
		c.prefix = im.m.root
	}
	return os.Symlink(c.path(r.Data), real)
}

// attributes sets what changes when anything else does, times last.
func (im *importer) attributes(p string, v fsfake.FileView) error {
	real := im.m.root + p
	if im.m.Rooted() {
		if err := os.Chown(real, int(v.UID), int(v.GID)); err != nil {
			return err
		}
	}
	if err := unix.Chmod(real, modeBits(v.Mode)); err != nil {
		return err
	}
	ts := times(&fsfake.Op{Time: v.Atime, Time2: v.Mtime})
	return unix.UtimesNanoAt(unix.AT_FDCWD, real, ts[:], 0)
}

func modeBits(m fs.FileMode) uint32 {
	b := uint32(m.Perm())
	if m&fs.ModeSticky != 0 {
		b |= unix.S_ISVTX
	}
	if m&fs.ModeSetgid != 0 {
		b |= unix.S_ISGID
	}
	if m&fs.ModeSetuid != 0 {
		b |= unix.S_ISUID
	}
	return b
}
