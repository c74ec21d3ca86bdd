package stack

import "testing"

// Whatever stands in a file, reading it ends, and does not panic.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("\x14\x00\x00\x00\x00\x00\x00\x00\x01zR\x00\x01\x78\x10\x01\x1b\x0c\x07\x08\x90\x01\x00\x00\x14\x00\x00\x00\x1c\x00\x00\x00\x00\x10\x00\x00\x20\x00\x00\x00\x00\x41\x0e\x10\x86\x02\x00"))
	f.Add([]byte("\x14\x00\x00\x00\x00\x00\x00\x00\x01zR\x00\x01\x78\x10\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		img := &image{cfi: parseFrames(b, 0x2000)}
		for _, e := range img.cfi {
			regs := Registers{regSP: 0x7000, regBP: 0x7010, regIP: e.from + 1}
			img.unwind(&regs, 0, func(uint64, int) ([]byte, error) { return make([]byte, 16), nil })
		}
	})
}
