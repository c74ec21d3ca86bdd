// Package stack says where in its source a stopped program makes a call: the innermost line that
// is the program's own, and not of libc, of Go's standard library or of golang.org/x/sys.
//
// It knows executables (ELF, DWARF, Go's table of lines), the call frame information of .eh_frame,
// and registers and memory of amd64, which it is handed. It knows no ptrace(2) and no call.
//
// # Limits
//
// It tells nothing rather than guess. A program without debug information (most that a distribution
// ships, and so the interpreters of scripts) has no source, and so has a call whose stack cannot
// be followed. Go is followed by frame pointers, everything else by .eh_frame, up to 64 frames.
// Of a Go program without DWARF (go run, -ldflags=-w) the table of lines is used; a call of an inlined
// function of the library has no line there.
package stack
