//go:build linux

package kernel

import (
	"testing"

	"lockpick/fsfake"
)

// TestEveryCallIsMade: how the kernel makes each call is known, or why it does not.
func TestEveryCallIsMade(t *testing.T) {
	for _, c := range fsfake.Calls() {
		if !Makes(c) && (int(c) >= len(makers) || makers[c].not == "") {
			t.Errorf("%s has no row in makers in fsfake/kernel/calls.go: how the kernel makes it, or why it does not", c)
		}
	}
}
