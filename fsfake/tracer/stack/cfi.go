package stack

import (
	"encoding/binary"
	"slices"
)

// Call frame information, as compilers write it for exceptions: .eh_frame, in the Linux Standard Base
// (Core, 10.6), its instructions in DWARF 5, 6.4.2. What is not handled (expressions) ends the walk.

// A frameEntry is what is known of a function's frame.
type frameEntry struct {
	from, to          uint64
	initial, program  []byte
	code, data        int64 // alignment factors
	ret               uint64
	location, pointer byte // how addresses are encoded
}

// A cursor reads a section.
type cursor struct {
	b    []byte
	at   int
	addr uint64 // of b
	bad  bool
}

func (c *cursor) bytes(n int) []byte {
	if n < 0 || n > len(c.b)-c.at {
		c.bad, c.at = true, len(c.b)
		return make([]byte, 8)
	}
	c.at += n
	return c.b[c.at-n : c.at]
}

func (c *cursor) u8() byte    { return c.bytes(1)[0] }
func (c *cursor) u16() uint16 { return binary.LittleEndian.Uint16(c.bytes(2)) }
func (c *cursor) u32() uint32 { return binary.LittleEndian.Uint32(c.bytes(4)) }
func (c *cursor) u64() uint64 { return binary.LittleEndian.Uint64(c.bytes(8)) }
func (c *cursor) more() bool  { return !c.bad && c.at < len(c.b) }

func (c *cursor) uleb() (v uint64) {
	for shift := 0; shift < 64; shift += 7 {
		b := c.u8()
		v |= uint64(b&0x7f) << shift
		if b&0x80 == 0 || c.bad {
			break
		}
	}
	return v
}

func (c *cursor) sleb() (v int64) {
	for shift := 0; shift < 64; {
		b := c.u8()
		v |= int64(b&0x7f) << shift
		shift += 7
		if b&0x80 == 0 || c.bad {
			if b&0x40 != 0 && shift < 64 {
				v |= -1 << shift
			}
			break
		}
	}
	return v
}

// address reads an encoded address (LSB Core, 10.5.1): absolute, or relative to where it stands.
func (c *cursor) address(encoding byte) uint64 {
	here := c.addr + uint64(c.at)
	var v uint64
	switch encoding & 0x0f {
	case 0x00, 0x04, 0x0c:
		v = c.u64()
	case 0x01:
		v = c.uleb()
	case 0x02:
		v = uint64(c.u16())
	case 0x03:
		v = uint64(c.u32())
	case 0x09:
		v = uint64(c.sleb())
	case 0x0a:
		v = uint64(int64(int16(c.u16())))
	case 0x0b:
		v = uint64(int64(int32(c.u32())))
	default:
		c.bad = true
	}
	if encoding&0x70 == 0x10 {
		v += here
	}
	return v
}

// parseFrames reads .eh_frame, in the order of addresses.
func parseFrames(b []byte, addr uint64) []frameEntry {
	common := map[int]*frameEntry{} // by offset
	var out []frameEntry
	c := &cursor{b: b, addr: addr}
	for c.more() {
		start := c.at
		size := uint64(c.u32())
		if size == 0 || size == 0xffffffff || c.bad {
			break
		}
		id := c.at
		part := &cursor{b: b[:min(len(b), id+int(size))], at: id, addr: addr}
		if back := int(part.u32()); back == 0 {
			common[start] = parseCommon(part)
		} else if k := common[id-back]; k != nil {
			f := *k
			f.from = part.address(f.location)
			f.to = f.from + part.address(f.location&0x0f)
			if f.pointer != 0 { // "z": there is augmentation data
				part.bytes(int(part.uleb()))
			}
			f.program = part.b[part.at:]
			if !part.bad {
				out = append(out, f)
			}
		}
		c.at = id + int(size)
	}
	slices.SortFunc(out, func(a, b frameEntry) int {
		if a.from < b.from {
			return -1
		}
		return 1
	})
	return out
}

// parseCommon reads what several functions have in common; nil when it is not understood.
func parseCommon(c *cursor) *frameEntry {
	if version := c.u8(); version != 1 && version != 3 {
		return nil
	}
	var augmentation []byte
	for b := c.u8(); b != 0 && !c.bad; b = c.u8() {
		augmentation = append(augmentation, b)
	}
	f := &frameEntry{code: int64(c.uleb()), data: c.sleb(), ret: c.uleb()}
	if len(augmentation) > 0 {
		if augmentation[0] != 'z' {
			return nil
		}
		f.pointer = 1
		end := int(c.uleb())
		end += c.at
		for _, a := range augmentation[1:] {
			switch a {
			case 'R':
				f.location = c.u8()
			case 'P':
				c.address(c.u8())
			case 'L':
				c.u8()
			case 'S': // a signal's frame
			default:
				return nil
			}
		}
		c.at = end
	}
	if c.bad || c.at < 0 || c.at > len(c.b) {
		return nil
	}
	f.initial = c.b[c.at:]
	return f
}

// A rule says where a register of the caller is.
type rule struct {
	kind   ruleKind
	offset int64
	reg    uint64
}

type ruleKind uint8

const (
	same    ruleKind = iota
	saved            // at the CFA plus offset
	value            // it is the CFA plus offset
	inOther          // in a register
	lost             // it is not known
)

// A row is the rules at an address: the canonical frame address, CFA, is a register plus an offset.
type row struct {
	reg    uint64
	offset int64
	rules  [17]rule
}

// unwind replaces registers by those of the caller.
func (img *image) unwind(regs *Registers, bias uint64, mem Memory) bool {
	pc := regs[regIP] - 1 - bias
	i, _ := slices.BinarySearchFunc(img.cfi, pc, func(f frameEntry, pc uint64) int {
		if f.to <= pc {
			return -1
		}
		return 1
	})
	if i == len(img.cfi) || pc < img.cfi[i].from {
		return false
	}
	f := &img.cfi[i]
	r, ok := f.at(pc)
	if !ok || r.reg >= 16 || f.ret >= 17 {
		return false
	}
	cfa := regs[r.reg] + uint64(r.offset)
	if cfa <= regs[regSP] { // the stack shrinks
		return false
	}
	next := *regs
	next[regSP] = cfa
	for n := range r.rules {
		switch is := &r.rules[n]; is.kind {
		case saved:
			b, err := mem(cfa+uint64(is.offset), 8)
			if err != nil || len(b) < 8 {
				return false
			}
			next[n] = binary.LittleEndian.Uint64(b)
		case value:
			next[n] = cfa + uint64(is.offset)
		case inOther:
			if is.reg >= 17 {
				return false
			}
			next[n] = regs[is.reg]
		case lost:
			next[n] = 0
		}
	}
	if r.rules[f.ret].kind != saved || next[f.ret] == 0 {
		return false // the outermost
	}
	next[regIP] = next[f.ret]
	*regs = next
	return true
}

// at is the row of an address.
func (f *frameEntry) at(pc uint64) (row, bool) {
	var r row
	c := &cursor{b: f.initial}
	ok := f.run(c, &r, nil, ^uint64(0))
	start := r
	c = &cursor{b: f.program}
	ok = ok && f.run(c, &r, &start, pc)
	return r, ok
}

// run carries out instructions up to the row of an address.
func (f *frameEntry) run(c *cursor, r *row, start *row, pc uint64) bool {
	var kept []row
	loc := f.from
	set := func(n uint64, to rule) {
		if n < uint64(len(r.rules)) {
			r.rules[n] = to
		}
	}
	advance := func(by uint64) bool {
		loc += by * uint64(f.code)
		return loc > pc
	}
	for c.more() {
		op := c.u8()
		low := uint64(op & 0x3f)
		switch op & 0xc0 {
		case 0x40: // advance_loc
			if advance(low) {
				return !c.bad
			}
			continue
		case 0x80: // offset
			set(low, rule{kind: saved, offset: int64(c.uleb()) * f.data})
			continue
		case 0xc0: // restore
			if start == nil || low >= uint64(len(r.rules)) {
				return false
			}
			r.rules[low] = start.rules[low]
			continue
		}
		done := false
		switch op {
		case 0x00, 0x2e: // nop, GNU_args_size
			if op == 0x2e {
				c.uleb()
			}
		case 0x01: // set_loc
			loc = c.address(f.location)
			done = loc > pc
		case 0x02:
			done = advance(uint64(c.u8()))
		case 0x03:
			done = advance(uint64(c.u16()))
		case 0x04:
			done = advance(uint64(c.u32()))
		case 0x05: // offset_extended
			n := c.uleb()
			set(n, rule{kind: saved, offset: int64(c.uleb()) * f.data})
		case 0x06: // restore_extended
			n := c.uleb()
			if start == nil || n >= uint64(len(r.rules)) {
				return false
			}
			r.rules[n] = start.rules[n]
		case 0x07: // undefined
			set(c.uleb(), rule{kind: lost})
		case 0x08: // same_value
			set(c.uleb(), rule{})
		case 0x09: // register
			n := c.uleb()
			set(n, rule{kind: inOther, reg: c.uleb()})
		case 0x0a: // remember_state
			kept = append(kept, *r)
		case 0x0b: // restore_state
			if len(kept) == 0 {
				return false
			}
			*r, kept = kept[len(kept)-1], kept[:len(kept)-1]
		case 0x0c: // def_cfa
			r.reg, r.offset = c.uleb(), int64(c.uleb())
		case 0x0d: // def_cfa_register
			r.reg = c.uleb()
		case 0x0e: // def_cfa_offset
			r.offset = int64(c.uleb())
		case 0x11: // offset_extended_sf
			n := c.uleb()
			set(n, rule{kind: saved, offset: c.sleb() * f.data})
		case 0x12: // def_cfa_sf
			r.reg, r.offset = c.uleb(), c.sleb()*f.data
		case 0x13: // def_cfa_offset_sf
			r.offset = c.sleb() * f.data
		case 0x14: // val_offset
			n := c.uleb()
			set(n, rule{kind: value, offset: int64(c.uleb()) * f.data})
		default: // expressions
			return false
		}
		if done {
			break
		}
	}
	return !c.bad
}
