package outcome

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// endsAs is an outcome with the files of pairs of name and content.
func endsAs(exit string, pairs ...string) Outcome {
	o := Outcome{Exits: []string{exit}, Printed: []string{""}}
	for i := 0; i < len(pairs); i += 2 {
		o.Tree = append(o.Tree, Entry{Name: pairs[i], Thing: Content(pairs[i+1])})
	}
	return o
}

// Each file is as before or as after; the answers were written down first.
func TestAtomic(t *testing.T) {
	end := func(pairs ...string) Outcome { return endsAs("exit 0", pairs...) }
	for name, c := range map[string]struct {
		before, after, here Outcome
		done                []int
		want                string
	}{
		"as before":                       {end("f", "a"), end("f", "bb"), end("f", "a"), nil, ""},
		"as after":                        {end("f", "a"), end("f", "bb"), end("f", "bb"), nil, ""},
		"empty":                           {end("f", "a"), end("f", "bb"), end("f", ""), nil, "f: 0 bytes, neither the old 1 nor the new 2"},
		"gone":                            {end("f", "a"), end("f", "bb"), end(), nil, "f: nothing, neither the old 1 byte nor the new 2 bytes"},
		"of the same size":                {end("f", "ab"), end("f", "cd"), end("f", "ad"), nil, "f: 2 bytes, neither the old 2 nor the new 2"},
		"a temporary file":                {end("f", "a"), end("f", "b"), end("f", "a", "t", ""), nil, ""},
		"another file":                    {end("f", "a", "g", "x"), end("f", "b", "g", "x"), end("f", "b", "g", ""), nil, ""},
		"two files, one of each":          {end("f", "a", "g", "a"), end("f", "b", "g", "b"), end("f", "a", "g", "b"), nil, ""},
		"unfinished":                      {end("f", "a"), end("f.gz", "zz"), end("f", "a", "f.gz", "z"), nil, ""},
		"unfinished, and gone":            {end("f", "a"), end("f.gz", "zz"), end("f.gz", "z"), nil, "f: gone, and f.gz: 1 byte, not the new 2"},
		"removed, and another unfinished": {end("f", "a"), end("log", "zz"), end("log", "z"), nil, ""},
		"moved, and both names":           {end("f", "a"), end("g", "a"), end("f", "a", "g", "a"), nil, ""},
		"moved, and no name":              {end("f", "a"), end("g", "a"), end(), nil, "f: gone, and g: nothing, not the new 1 byte"},
		"moved, and cut short": {
			end("f", "aa"), end("g", "aa"), end("g", "a"), nil, "f: gone, and g: 1 byte, not the new 2"},
		"empty, moved, and gone": {end("f", ""), end("g", ""), end(), nil, ""},
		"rotated":                {end("f", "a"), end("f", "", "f.1", "a"), end("f.1", "a"), nil, ""},
		"rotated to a name nobody uses": {end("f", "a"), end("f", "", "f.1", "a"), end("f.2", "a"), nil,
			"f: nothing, neither the old 1 byte nor the new 0 bytes"},
		"done, and as before": {end("f", "a"), end("f", "bb"), end("f", "a"), []int{0},
			"f: the old 1 byte, not the new 2"},
		"done, and nothing made": {end("f", "a"), end("f", "bb", "g", "c"), end("f", "bb"), []int{0},
			"g: nothing, not the new 1 byte"},
		"done": {end("f", "a"), end("f", "bb"), end("f", "bb"), []int{0}, ""},
	} {
		a := NewAtomic(c.before, []Order{{Ran: []int{0}, Outcome: c.after}}, Passage{})
		require.Equal(t, c.want, a.Judge(c.here, c.done), name)
		if c.want != "" {
			require.Greater(t, len(a.Table(c.here, c.done)), 1, name)
		}
	}
}

// What a run writes on its way, and leaves as it was, is not cut short; another text may stand there meanwhile.
func TestAtomicRewritten(t *testing.T) {
	f, empty := endsAs("exit 0", "f", "idle"), endsAs("exit 0", "f", "")
	a := NewAtomic(f, []Order{{Ran: []int{0}, Outcome: f}}, Passage{Rewritten: []string{"f"}})
	for here, want := range map[string]string{
		"idle": "", "busy": "", "": "f: 0 bytes, neither the old 4 nor the new 4",
		"id\x00\x00": "f: 4 bytes that end in 2 zeros, neither the old 4 nor the new 4",
	} {
		require.Equal(t, want, a.Judge(endsAs("exit 0", "f", here), nil), here)
	}
	require.NotEmpty(t, a.Judge(endsAs("exit 0"), nil))
	require.NotEmpty(t, a.Judge(endsAs("exit 0", "f", "busy"), []int{0}), "who has ended has put it right")
	a = NewAtomic(empty, []Order{{Ran: []int{0}, Outcome: empty}}, Passage{Rewritten: []string{"f"}})
	require.False(t, a.Changed(), "nothing to lose")
}

// Serial runs of which somebody was killed are nothing to compare with.
func TestAtomicKilledOrders(t *testing.T) {
	half := endsAs("killed", "f", "")
	a := NewAtomic(endsAs("exit 0", "f", "a"), []Order{{Ran: []int{0}, Killed: []int{0}, Outcome: half}}, Passage{})
	require.False(t, a.Changed())
	a.Add(Order{Ran: []int{0}, Outcome: endsAs("exit 0", "f", "b")})
	require.True(t, a.Changed())
	require.NotEmpty(t, a.Judge(half, nil))
}

// A new file that is locked and stays empty is a lock, which nobody misses; with something in it, it is data.
func TestNewLocksAreNotJudged(t *testing.T) {
	before, done := endsAs("exit 0", "f", "a"), []int{0}
	for content, want := range map[string]string{"": "", "x": "l: nothing, not the new 1 byte"} {
		after := endsAs("exit 0", "f", "b", "l", content)
		a := NewAtomic(before, []Order{{Ran: done, Outcome: after}}, Passage{Locked: []string{"f", "l"}})
		require.Equal(t, want, a.Judge(endsAs("exit 0", "f", "b"), done))
		require.Equal(t, "f: the old 1 byte, not the new 1", a.Judge(endsAs("exit 0", "f", "a", "l", content), done))
		a = NewAtomic(before, []Order{{Ran: done, Outcome: after}}, Passage{})
		require.NotEmpty(t, a.Judge(endsAs("exit 0", "f", "b"), done), "not locked")
	}
}
