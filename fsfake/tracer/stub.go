//go:build !(linux && amd64)

package tracer

import (
	"errors"
	"time"

	"lockpick/fsfake"
)

var errPlatform = errors.New("tracer: programs can be run under linux/amd64 only; run the check there, or write the protocol as a Go function")

// Room is for none.
func Room() int { return 0 }

// ErrNoClone is why a run cannot be cloned.
var ErrNoClone = errPlatform

// A Run is a running program. On this platform there is none.
type Run struct{}

// Start fails: programs can be run under linux/amd64 only.
func Start(Config) (*Run, error) { return nil, errPlatform }

// Next fails.
func (*Run) Next() ([]Pending, error) { return nil, errPlatform }

// Answer fails.
func (*Run) Answer(fsfake.Task, fsfake.Result) error { return errPlatform }

// AnswerNext fails.
func (*Run) AnswerNext(fsfake.Task, fsfake.Result) ([]Pending, error) { return nil, errPlatform }

// Let fails.
func (*Run) Let(fsfake.Task, fsfake.Result) (fsfake.Result, error) {
	return fsfake.Result{}, errPlatform
}

// Where knows nothing.
func (*Run) Where(fsfake.Task) Place { return Place{} }

// Pass does nothing.
func (*Run) Pass(time.Duration) {}

// Kill fails.
func (*Run) Kill(...int) error { return errPlatform }

// Living knows of no processes.
func (*Run) Living() []int { return nil }

// Stop does nothing.
func (*Run) Stop() {}

// Exit knows no process.
func (*Run) Exit(int) (Exit, bool) { return Exit{}, false }

// Clone fails.
func (*Run) Clone() (*Run, error) { return nil, errPlatform }

// Calls counts none.
func (*Run) Calls() int { return 0 }

// Peeked is false.
func (*Run) Peeked() bool { return false }

// EndsBeside knows none.
func (*Run) EndsBeside(int) ([]int, bool) { return nil, false }

// Unseen reports false.
func (*Run) Unseen(int) bool { return false }

// Apart reports false.
func (*Run) Apart() bool { return false }

// Looks counts none.
func (*Run) Looks() int { return 0 }

// Has knows none.
func (*Run) Has(int) bool { return false }

// State is unknown.
func (*Run) State() string { return "" }

// Program is unknown.
func (*Run) Program() Program { return Program{} }

// Renamed reports false.
func (*Run) Renamed() bool { return false }

// Memory is unknown.
func (*Run) Memory() string { return "" }

// Signal does nothing.
func (*Run) Signal(fsfake.Signalled) error { return nil }

// Take does nothing.
func (*Run) Take(fsfake.Task) error { return nil }

// Outside lists none.
func (*Run) Outside() []string { return nil }

// Executed lists none.
func (*Run) Executed() []string { return nil }

// Draws is true.
func (*Run) Draws() bool { return true }

// MayDraw is true.
func MayDraw(string) bool { return true }

// Refused lists none.
func (*Run) Refused() []string { return nil }

// Real knows no process.
func (*Run) Real(int) int { return 0 }

// Taken lists none.
func (*Run) Taken(int) (children, others []int) { return nil, nil }

// Unlike lists none.
func (*Run) Unlike() []string { return nil }

// Stdout is empty.
func (*Run) Stdout() string { return "" }

// Stderr is empty.
func (*Run) Stderr() string { return "" }
