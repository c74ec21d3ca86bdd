package kit

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/scenarios"
)

// A socket answers from listen to the end of its owner, which leaves its name behind.
func TestSocketAnswersWhileItsOwnerLives(t *testing.T) {
	sc := scenarios.Scenario{Setting: scenarios.Setting{Processes: 2}}
	m := sc.NewMachine()
	server, client := &scenarios.Task{Proc: m.Proc(scenarios.Pid(0))}, &scenarios.Task{Proc: m.Proc(scenarios.Pid(1))}
	require.ErrorIs(t, Connect(client, "/s"), os.ErrNotExist)
	s, err := Bind(server, "/s")
	require.NoError(t, err)
	require.ErrorIs(t, Connect(client, "/s"), syscall.ECONNREFUSED, "nobody listens yet")
	require.NoError(t, Listen(s))
	require.NoError(t, Connect(client, "/s"))
	require.NoError(t, Connect(client, "/s"), "to ask takes nothing away")
	_, err = Bind(client, "/s")
	require.ErrorIs(t, err, syscall.EADDRINUSE)
	m.KillProc(scenarios.Pid(0))
	require.ErrorIs(t, Connect(client, "/s"), syscall.ECONNREFUSED)
	_, err = Bind(client, "/s")
	require.ErrorIs(t, err, syscall.EADDRINUSE, "the name is still there")
	require.NoError(t, client.Unlink("/s"))
	s, err = Bind(client, "/s")
	require.NoError(t, err)
	require.NotNil(t, s)
}
