//go:build linux && amd64

package tracer

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// The monotonic clock, without a stop. Programs look at it again and again: Python twice for each
// stat(2). It moves by what the program waits, which the tracer knows, so the program can be shown it
// by a few instructions of its own. These stand in the program's vDSO, in place of the kernel's, whose
// clocks are real ones; what else the vDSO offers is taken out of its table of symbols, so that
// programs make system calls for it. Where the vDSO is not as expected it is hidden as a whole.

// monoCode is clock_gettime(2) for the clocks 1, 4, 6 and 7 (monotonic, raw, coarse, and since boot), by
// what stands at its end: seconds and nanoseconds. Of other clocks it makes the system call.
var monoCode = [monoShown]byte{
	0x83, 0xff, 0x07, // cmp edi, 7
	0x77, 0x22, // ja call
	0xb8, 0xd2, 0, 0, 0, // mov eax, 1<<1 | 1<<4 | 1<<6 | 1<<7
	0x0f, 0xa3, 0xf8, // bt eax, edi
	0x73, 0x18, // jnc call
	0x48, 0x8b, 0x05, 0x1a, 0, 0, 0, // mov rax, [seconds]
	0x48, 0x89, 0x06, // mov [rsi], rax
	0x48, 0x8b, 0x05, 0x18, 0, 0, 0, // mov rax, [nanoseconds]
	0x48, 0x89, 0x46, 0x08, // mov [rsi+8], rax
	0x31, 0xc0, // xor eax, eax
	0xc3,                // ret
	0xb8, 0xe4, 0, 0, 0, // call: mov eax, 228
	0x0f, 0x05, // syscall
	0xc3, // ret
}

const (
	monoShown = 0x30 // where the seconds stand
	maxVDSO   = 1 << 15
)

// A shownClock is the monotonic clock in a process's memory.
type shownClock struct {
	at uint64 // where it stands, or 0
	ns int64  // what it shows, or unknownClock
}

const unknownClock = -1

// ownClock puts the monotonic clock into the vDSO at an address. The error says why it is not as
// expected; then it is to be hidden.
func (t *thread) ownClock(at uint64) error {
	image, err := readMem(t.tid, at, maxVDSO)
	if err != nil {
		return err
	}
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return err
	}
	text, table := f.Section(".text"), f.Section(".dynsym")
	symbols, err := f.DynamicSymbols()
	switch {
	case err != nil:
		return err
	case text == nil || table == nil || len(f.Progs) == 0 || f.Progs[0].Vaddr != 0 || text.Addr != text.Offset || text.Size < monoShown+16+16:
		return errors.New("tracer: a vDSO of another shape")
	}
	code := (text.Addr + 15) &^ 15
	const size, info = elf.Sym64Size, 4
	names := image[table.Offset:][:size*(len(symbols)+1)]
	for i, s := range symbols {
		entry := names[size*(i+1):][:size]
		switch {
		case s.Name == "__vdso_clock_gettime" || s.Name == "clock_gettime":
			copy(entry[8:], putUint64s(code, monoShown))
		case elf.ST_TYPE(s.Info) == elf.STT_FUNC:
			copy(entry[info+2:], make([]byte, size-info-2)) // section, value and size: not defined
		}
	}
	ns := t.p.monotonic()
	sec, nsec := seconds(ns)
	body := append(monoCode[:], putUint64s(uint64(sec), uint64(nsec))...)
	// Through /proc, for the pages are read-only.
	mem, err := os.OpenFile("/proc/"+strconv.Itoa(t.p.real)+"/mem", os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = mem.WriteAt(body, int64(at+code))
	if err == nil {
		_, err = mem.WriteAt(names, int64(at+table.Addr))
	}
	mem.Close()
	if err == nil {
		t.p.clock = shownClock{at + code + monoShown, ns}
	}
	return err
}

// showClock shows the process what its monotonic clock is now, before a thread of it goes on.
func (t *thread) showClock() error {
	c := &t.p.clock
	if c.at == 0 || c.ns == t.p.monotonic() {
		return nil
	}
	sec, nsec := seconds(t.p.monotonic())
	if _, err := unix.PtracePokeData(t.tid, uintptr(c.at), putUint64s(uint64(sec), uint64(nsec))); err != nil {
		return fmt.Errorf("its clock cannot be set: %w", err)
	}
	c.ns = t.p.monotonic()
	return nil
}
