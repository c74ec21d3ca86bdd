package fsfake

import (
	"fmt"
	"path"
	"strings"
	"syscall"
)

// When only one directory of a program's world is fake, a path that leads out of it leads to
// files that the machine does not know.

// errBorder is what a walk over the border answers; no program sees it.
const errBorder = syscall.Errno(1 << 16)

// SetBorder says that nothing but what is below a directory is the machine's: a path that leads
// out of it, by ".." or by a symlink whose target is elsewhere, is not modelled. Paths from the
// root are not looked at. It panics when the path, which must be clean and absolute, is not a
// directory's.
func (m *Machine) SetBorder(dir string) {
	id, ok := m.Lookup(dir)
	if !ok || m.inode(id).kind != KindDir || path.Clean(dir) != dir {
		panic(fmt.Sprintf("fsfake: SetBorder: %q is no directory", dir))
	}
	s := m.mutSetup()
	s.border, s.borderPath = id, dir
}

// leads reports whether the target of a symlink leads over the border at once.
func (m *Machine) leads(target string) bool {
	return m.border != 0 && path.IsAbs(target) && target != m.borderPath && !strings.HasPrefix(target, m.borderPath+"/")
}
