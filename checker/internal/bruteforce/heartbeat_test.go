package bruteforce_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/bruteforce"
	"lockpick/internal/testmain"
)

// A lease of ten seconds with a heartbeat, and a contender that takes over what is older. A holder
// that is never delayed keeps its lease when it beats in time, and only then.
func TestHeartbeats(t *testing.T) {
	testmain.Slow(t, "brute force takes long for heartbeats", "./checker/internal/bruteforce")
	for _, c := range []struct {
		name     string
		interval int64
		file     string // that the heartbeat touches
		punctual []int
		broken   bool
	}{
		{"in time", 4, "/lock", []int{0, 1}, false},
		{"in time, and everybody is slow", 4, "/lock", nil, true},
		{"in time, and the contender is slow between its look and the clock", 4, "/lock", []int{0}, true},
		{"too late", 20, "/lock", []int{0, 1}, true},
		{"of another file", 4, "/other", []int{0, 1}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := heartbeat(c.interval, c.file)
			p.Punctual = c.punctual
			k := comparison{p: p, name: "mutual-exclusion"}
			require.NoError(t, k.run(context.Background()))
			require.NotEqual(t, tooLarge, k.outcome)
			require.Equal(t, c.broken, k.want.Broken, "%s", k.want.Schedule)
		})
	}
}

func heartbeat(interval int64, file string) *bruteforce.Protocol {
	type body = []bruteforce.Stmt
	var beats body
	for range 3 {
		beats = append(beats, bruteforce.Stmt{Do: bruteforce.Sleep, N: interval},
			bruteforce.Stmt{Do: bruteforce.Open, Path: file, Flags: bruteforce.Existing, Slot: 1},
			bruteforce.Stmt{Do: bruteforce.Write, Text: "x", Slot: 1}, bruteforce.Stmt{Do: bruteforce.Close, Slot: 1})
	}
	create := bruteforce.Stmt{Do: bruteforce.Open, Path: "/lock", Flags: bruteforce.Exclusive}
	got := bruteforce.Stmt{Do: bruteforce.If, Cond: bruteforce.IfOK, Body: body{{Do: bruteforce.Return, N: 1, Slot: -1}}}
	release := body{{Do: bruteforce.Unlink, Path: "/lock"}}
	return &bruteforce.Protocol{
		Name: "heartbeat", Stalls: 1, StallFor: 30, Ask: []string{"mutual-exclusion"},
		Files: []bruteforce.File{{Path: "/other"}},
		Programs: [][]body{
			{{{Do: bruteforce.Acquire, Path: "/lock", Body: body{create, got}, Else: beats, Release: release}}},
			{{{Do: bruteforce.Acquire, Path: "/lock", Body: body{
				create, got, {Do: bruteforce.Old, Path: "/lock", N: 10},
				{Do: bruteforce.If, Cond: bruteforce.IfOK, Body: body{{Do: bruteforce.Unlink, Path: "/lock"}, create, got}},
			}, Else: body{{Do: bruteforce.Work}}, Release: release}}},
		},
	}
}
