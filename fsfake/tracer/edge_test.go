//go:build linux && amd64

package tracer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
	"lockpick/fsfake/tracer"
)

// A path, and the arguments of an interpreter, are written below the stack, also where nothing is mapped well below it.
func TestStackAtItsEdge(t *testing.T) {
	argv := compiled("gcc", "-O1", "-o")(t, file(t, "edge.c"))
	m := newMachine()
	must(m.Proc(1).WriteFile(dir+"/x", []byte("#!/bin/sh\n: > done\n"), 0o755))
	run, err := tracer.Start(config(argv[0], dir+"/x"))
	skipUntraceable(t, err)
	require.NoError(t, err)
	defer run.Stop()
	toItsEnd(t, m, run, func(tracer.Pending, fsfake.Result) {})
	require.Equal(t, tracer.Exit{}, exitOf(t, run), run.Stderr())
	_, err = m.Proc(1).Stat(dir + "/done")
	require.NoError(t, err)
}
