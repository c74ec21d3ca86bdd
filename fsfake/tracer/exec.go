//go:build linux && amd64

package tracer

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// Programs. One in the virtual directory is read from the fake: a script is run by its
// interpreter, which opens it as the program's own path; anything else from a copy in the run's
// temporary directory.

func (t *thread) exec(dirfd, i, flags int) {
	if t.nameless(dirfd, i) {
		return
	}
	if at, ok := t.scriptLine(); ok {
		t.p.by = at
	}
	name, pl, ok := t.name(dirfd, i, true)
	switch {
	case !ok:
	case pl.virtual && (pl.fd >= 0 || flags != 0):
		t.unmodelled("by a descriptor of the fake it is not handled")
	case pl.virtual:
		t.execVirtual(name, pl, i)
	default:
		t.bequeath()
		t.realThen(pl, i, func(int64) { t.keep() })
	}
}

// execVirtual reads a program of the fake, and executes it.
func (t *thread) execVirtual(name string, pl place, i int) {
	open := fsfake.Op{Call: fsfake.CallOpen, Path: pl.path, Flags: unix.O_CLOEXEC}
	t.askThen(open, func(r fsfake.Result) {
		fd := int(r.N)
		t.ask(fsfake.Op{Call: fsfake.CallFstat, FD: fd}, func(r fsfake.Result) {
			st := r.Stat
			t.ask(fsfake.Op{Call: fsfake.CallPread, FD: fd, Len: max(st.Size, 1)}, func(r fsfake.Result) {
				text := r.Data
				t.ask(fsfake.Op{Call: fsfake.CallClose, FD: fd}, func(fsfake.Result) {
					switch {
					case !st.Mode.IsRegular() || !may(st, unix.X_OK):
						t.fail(unix.EACCES)
					case strings.HasPrefix(text, "#!"):
						t.execScript(name, text, i)
					case strings.HasPrefix(text, "\x7fELF"):
						t.execCopy(name, text, i)
					default:
						t.fail(unix.ENOEXEC)
					}
				})
			})
		})
	})
}

// execScript executes the interpreter that a script names in its first line, as execve(2)
// says: with at most one argument, and the path of the script in place of the first of the
// program's arguments.
func (t *thread) execScript(name, text string, i int) {
	line, _, _ := strings.Cut(text[2:], "\n")
	interpreter, arg, _ := strings.Cut(strings.Trim(line, " \t"), " ")
	if interpreter == "" {
		t.fail(unix.ENOEXEC)
		return
	}
	if pl, err := t.locate(unix.AT_FDCWD, interpreter, true); err == nil && pl.virtual {
		t.unmodelled("the interpreter %s of a script is in the virtual directory: that is not handled", interpreter)
		return
	}
	args := []string{interpreter}
	if arg = strings.Trim(arg, " \t"); arg != "" {
		args = append(args, arg)
	}
	t.p.script = path.Base(name)
	t.execWith(interpreter, append(args, name), i)
}

// execCopy executes a copy of a program.
func (t *thread) execCopy(name, text string, i int) {
	dir, err := t.r.tempDir()
	if err == nil {
		dir, err = os.MkdirTemp(dir, "program")
	}
	file := filepath.Join(dir, path.Base(name))
	if err == nil {
		syscall.ForkLock.RLock() // a process that another run forks now would keep the file open for writing: ETXTBSY
		err = os.WriteFile(file, []byte(text), 0o700)
		syscall.ForkLock.RUnlock()
	}
	if err != nil {
		t.fault("a copy of the program: %v", err)
		return
	}
	t.execWith(file, nil, i)
}

// execWith makes the call with another file, and with args in place of the first argument, if
// there are any. All of that is written below the stack; when the call fails, what was there
// is put back.
func (t *thread) execWith(file string, args []string, i int) {
	info, err := getSyscallInfo(t.tid)
	if err != nil {
		t.pass()
		return
	}
	var text bytes.Buffer
	text.WriteString(file + "\x00")
	var offsets []uint64
	for _, a := range args {
		offsets = append(offsets, uint64(text.Len()))
		text.WriteString(a + "\x00")
	}
	argv := t.c.args[i+1]
	rest, err := t.pointers(argv)
	if err != nil {
		t.failErr(err)
		return
	}
	size := uint64(text.Len()) + 8*uint64(len(args)+len(rest)+2)
	at := t.below(info.sp, size)
	if args != nil {
		vector := make([]byte, 0, 8*(len(args)+len(rest)))
		strings := at + 8*uint64(len(args)+max(len(rest), 1))
		for _, o := range offsets {
			vector = binary.LittleEndian.AppendUint64(vector, strings+o)
		}
		for k := 1; k < len(rest); k++ {
			vector = binary.LittleEndian.AppendUint64(vector, rest[k])
		}
		vector = binary.LittleEndian.AppendUint64(vector, 0)
		argv = at
		b := append(vector, text.Bytes()...)
		t.execAt(at, b, at+uint64(len(vector)), argv, i)
		return
	}
	t.execAt(at, text.Bytes(), at, argv, i)
}

func (t *thread) execAt(at uint64, b []byte, file, argv uint64, i int) {
	old, err := readFull(t.tid, at, len(b))
	if err == nil {
		err = writeMem(t.tid, at, b)
	}
	if err != nil {
		t.fault("no room for the arguments on the stack")
		return
	}
	t.instead(unix.SYS_EXECVE, file, argv, t.c.args[i+2])
	t.bequeath()
	t.passThen(func(ret int64) {
		t.keep()
		_ = writeMem(t.tid, at, old)
		if t.p.stand {
			t.fault("the program %s cannot be executed: %v", t.r.c.Argv[0], syscall.Errno(-ret))
		}
	})
}

// pointers reads an array of pointers up to a NULL.
func (t *thread) pointers(at uint64) ([]uint64, error) {
	var list []uint64
	for at != 0 {
		p, err := readUint64(t.tid, at+8*uint64(len(list)))
		if err != nil {
			return nil, err
		}
		if p == 0 {
			break
		}
		list = append(list, p)
	}
	return list, nil
}

// becomeVirtual makes the stand-in, before its first instruction, execute the program that it
// stands for, which only the fake has, with the arguments and the environment that it has got
// itself.
func (t *thread) becomeVirtual() error {
	var regs unix.PtraceRegs
	if err := unix.PtraceGetRegs(t.tid, &regs); err != nil {
		return err
	}
	argc, err := readUint64(t.tid, regs.Rsp)
	if err != nil {
		return err
	}
	name, err := readUint64(t.tid, regs.Rsp+8)
	if err != nil {
		return err
	}
	if _, err := unix.PtracePokeText(t.tid, uintptr(regs.Rip), []byte("\x0f\x05\x0f\x0b\x0f\x0b\x0f\x0b")); err != nil {
		return fmt.Errorf("tracer: the stand-in: %w", err)
	}
	t.p.stand = true
	regs.Rax, regs.Orig_rax = unix.SYS_EXECVE, ^uint64(0)
	regs.Rdi, regs.Rsi, regs.Rdx = name, regs.Rsp+8, regs.Rsp+8*(argc+2)
	if err := unix.PtraceSetRegs(t.tid, &regs); err != nil {
		return err
	}
	t.goOn(unix.PTRACE_CONT)
	return nil
}
