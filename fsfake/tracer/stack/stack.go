package stack

import (
	"encoding/binary"
	"strconv"
	"strings"
	"sync"
)

// A Place is a line of a program's source. File is as the compiler recorded it.
type Place struct {
	File string
	Line int
	Func string
}

// Registers are a thread's registers, by their numbers in DWARF (System V ABI for AMD64, figure
// 3.36); that of the return address is the instruction pointer.
type Registers [17]uint64

// Numbers of registers.
const (
	regBP = 6
	regSP = 7
	regIP = 16
)

// Memory reads n bytes of the program's memory.
type Memory func(addr uint64, n int) ([]byte, error)

// maxFrames is how many callers are looked at.
const maxFrames = 64

// Files are the executables that have been looked at, each read once. The zero value is ready; several
// goroutines may ask.
type Files struct {
	mu     sync.Mutex
	images map[string]*image
	shells map[string]uint64 // where the line is, from where the shell is loaded
	php    map[string]phpLayout
}

// Where finds the innermost line of the program's own source on the stack of a stopped thread;
// false when it is not known. Maps is what /proc/PID/maps says.
func (f *Files) Where(maps string, regs Registers, mem Memory) (Place, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var library Place // of a module that the program uses
	mapped := parseMaps(maps)
	for range maxFrames {
		m := mapped.at(regs[regIP] - 1)
		if m == nil {
			break
		}
		img := f.image(m.path)
		if img == nil {
			break
		}
		bias := img.bias(m)
		for _, p := range img.places(regs[regIP] - 1 - bias) {
			switch {
			case p.Line == 0:
				return library, library != Place{}
			case img.foreign(p.File):
			case !dependency(p.File):
				return p, true
			case library == (Place{}):
				library = p
			}
		}
		var ok bool
		if img.lines != nil { // a Go program
			ok = byFramePointer(&regs, mem)
		} else {
			ok = img.unwind(&regs, bias, mem)
		}
		if !ok {
			break
		}
	}
	return library, library != Place{}
}

// dependency reports a file of a module that somebody else has written.
func dependency(file string) bool {
	return strings.Contains(file, "/pkg/mod/") || strings.Contains(file, "/vendor/") || strings.Contains(file, "/.cargo/")
}

// byFramePointer goes to the caller of the function that has pushed the frame pointer last. Where the
// innermost function has not, its caller is passed over: the stubs of system calls in Go.
func byFramePointer(regs *Registers, mem Memory) bool {
	b, err := mem(regs[regBP], 16)
	if err != nil || len(b) < 16 || regs[regBP] < regs[regSP] {
		return false
	}
	next := binary.LittleEndian.Uint64(b)
	regs[regSP] = regs[regBP] + 16
	regs[regBP], regs[regIP] = next, binary.LittleEndian.Uint64(b[8:])
	return regs[regIP] != 0
}

// A mapping is a part of a file in a program's memory that can be executed.
type mapping struct {
	start, end, offset uint64
	path               string
}

type mappings []mapping

// parseMaps reads what /proc/PID/maps says; proc_pid_maps(5).
func parseMaps(text string) mappings {
	var out mappings
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 6 || !strings.Contains(fields[1], "x") || !strings.HasPrefix(fields[5], "/") {
			continue
		}
		from, to, _ := strings.Cut(fields[0], "-")
		var m mapping
		m.start, _ = strconv.ParseUint(from, 16, 64)
		m.end, _ = strconv.ParseUint(to, 16, 64)
		m.offset, _ = strconv.ParseUint(fields[2], 16, 64)
		_, m.path, _ = strings.Cut(strings.TrimSuffix(line, "\n"), "/")
		m.path = "/" + m.path
		out = append(out, m)
	}
	return out
}

func (all mappings) at(addr uint64) *mapping {
	for i := range all {
		if all[i].start <= addr && addr < all[i].end {
			return &all[i]
		}
	}
	return nil
}
