package fsfake

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// Two processes share a description; one waits to lock it, and the other asks too. What
// becomes of that depends on when the kernel looks at the waiter again, which is not
// modelled; letting go is.
func TestFlockOfADescriptionThatIsWaitedFor(t *testing.T) {
	m, a, b := pair()
	f, err := a.OpenFile("/lock", os.O_CREATE|os.O_RDWR, 0o644)
	require.NoError(t, err)
	g, err := b.OpenFile("/lock", os.O_RDWR, 0)
	require.NoError(t, err)
	require.NoError(t, g.Flock(LOCK_SH))
	child := m.Do(Task{101, 1}, Op{Call: CallFork})
	require.True(t, child.OK())
	fd := int(f.Fd())
	require.True(t, m.Do(Task{int(child.N), 1}, Op{Call: CallFlock, FD: fd, Flags: LOCK_EX}).Blocked)
	require.NotEmpty(t, m.Do(Task{101, 1}, Op{Call: CallFlock, FD: fd, Flags: LOCK_SH}).Unmodelled)
	require.True(t, m.Do(Task{101, 1}, Op{Call: CallFlock, FD: fd, Flags: LOCK_UN}).OK())
}
