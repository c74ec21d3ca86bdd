package command_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
)

// What is left of a file is as before or as after, or is not, when whoever changes it is killed, the power is lost, or
// the disk is full. Kills are as strace(1) with inject=…:signal=KILL leaves them, losses of power as POSIX allows them.
func TestAtomic(t *testing.T) {
	sorts := map[string]string{"f": "b\na\nc\n"}
	for _, c := range []struct {
		needs, line string
		files       map[string]string
		broken      map[string]string // by setting: what is said; a setting that is not there holds
	}{
		{"sort", "sort -o f f", sorts, map[string]string{"crashes": "f: 0 bytes, neither the old 6 nor the new 6", "power-losses": "f: 0 bytes, neither the old 6 nor the new 6", "failing-calls": "f: 0 bytes, neither the old 6 nor the new 6"}},
		{"cp", "cp g f", map[string]string{"f": "old", "g": "longer"}, map[string]string{"crashes": "f: 0 bytes, neither the old 3 nor the new 6", "power-losses": "f: 0 bytes, neither the old 3 nor the new 6", "failing-calls": "f: 0 bytes, neither the old 3 nor the new 6"}},
		{"sed", "sed -i s/a/b/ f", sorts, map[string]string{"power-losses": "f: 0 bytes, neither the old 6 nor the new 6"}},
		{"gzip", "gzip -n f", sorts, map[string]string{"power-losses": "f: gone, and f.gz: 0 bytes, not the new"}},
		{"mv", "mv f g", sorts, nil},
		{"sort", "sort -o f f", map[string]string{"f": "a\nb\n"}, map[string]string{
			"crashes":       "f: 0 bytes, neither the old 4 nor the new 4",
			"power-losses":  "f: 0 bytes, neither the old 4 nor the new 4",
			"failing-calls": "f: 0 bytes, neither the old 4 nor the new 4"}},
		{"sh", "echo y > f", map[string]string{"f": "y\n"}, map[string]string{
			"crashes":       "f: 0 bytes, neither the old 2 nor the new 2",
			"power-losses":  "f: 0 bytes, neither the old 2 nor the new 2",
			"failing-calls": "f: 0 bytes, neither the old 2 nor the new 2"}},
		{"cat", "cat f > g; rm f", sorts, map[string]string{
			"power-losses":  "f: gone, and g: 0 bytes, not the new 6",
			"failing-calls": "f: gone, and g: "}},
		{"cp", "cp f g && mv g f", sorts, map[string]string{
			"power-losses": "f: 0 bytes, neither the old 6 nor the new 6"}},
		{"cp", "cp g f.tmp; mv f.tmp f", map[string]string{"f": "old", "g": "longer"}, map[string]string{
			"power-losses":  "f: 0 bytes, neither the old 3 nor the new 6",
			"failing-calls": "f: 0 bytes, not the new 6"}},
		{"sh", "echo y >> f", sorts, map[string]string{
			"power-losses": "f: 8 bytes that end in 2 zeros, neither the old 6 nor the new 8"}},
		{"cp", "cp g f; true", map[string]string{"f": "old", "g": "longer"}, map[string]string{
			"crashes":       "f: 0 bytes, neither the old 3 nor the new 6, if what it has started is killed with it",
			"power-losses":  "f: 0 bytes, neither the old 3 nor the new 6",
			"failing-calls": "f: 0 bytes, not the new 6"}},
		{"sh", "sh -c 'echo x > g'; true", map[string]string{"f": ""}, map[string]string{
			"failing-calls": "g: nothing, not the new 2"}},
		{"sh", "echo x > f; true", sorts, map[string]string{"crashes": "f: 0 bytes", "power-losses": "f: 0 bytes", "failing-calls": "f: 0 bytes, not the new 2"}},
	} {
		t.Run(c.line, func(t *testing.T) {
			t.Parallel()
			testmain.LongBut(t, c.line, "./scenarios/command", "sort -o f f", "cp g f", "sed -i s/a/b/ f", "mv f g",
				"echo y > f", "cat f > g; rm f", "cp g f.tmp; mv f.tmp f", "echo y >> f", "sh -c 'echo x > g'; true")
			for _, setting := range []string{"crashes", "power-losses", "failing-calls"} {
				sc := scenario(t, c.needs, []string{c.line}, c.files, setting+" 1\nrefused none")
				p, err := sc.Property("atomic")
				if c.files["f"] == "" && setting != "failing-calls" {
					_, claimed := sc.Claim(scenarios.Atomic)
					require.False(t, claimed)
					require.Contains(t, strings.Join(scenarios.Texts(sc.Assumes), "; "), "the commands write none that was there")
					continue
				}
				require.NoError(t, err)
				r, err := checker.Check(context.Background(), &sc, p, checker.Options{Workers: 1, SkipOdds: true})
				require.NoError(t, err)
				want := c.broken[setting]
				require.Equal(t, want == "", r.Verdict == checker.Holds, "%s: %s %s", setting, r.Verdict, r.Why)
				if want != "" {
					require.Equal(t, checker.Broken, r.Verdict)
					require.Contains(t, r.Counterexample.Said, want, setting)
					require.Contains(t, r.Counterexample.Cause, want[:len("f: ")])
				}
			}
		})
	}
}

// Of several commands one may be killed with all that it has started, while others go on to their end.
func TestAtomicWhereAGroupIsKilled(t *testing.T) {
	for _, c := range []struct {
		kill string
		asks bool
	}{{"process", true}, {"group", false}} {
		sc := scenario(t, "cp", []string{"cp g f; true", "echo x > h"}, map[string]string{"f": "old", "g": "longer"},
			"crashes 1\nrefused none\nkill "+c.kill)
		p, err := sc.Property("atomic")
		require.NoError(t, err)
		r, err := checker.Check(context.Background(), &sc, p, checker.Options{Workers: 1, SkipOdds: true})
		require.NoError(t, err)
		require.Equal(t, checker.Broken, r.Verdict, r.Why)
		require.Contains(t, r.Counterexample.Said, "f: 0 bytes")
		require.Equal(t, c.asks, strings.Contains(r.Counterexample.Said, "if what it has started is killed with it"))
	}
}

// Whoever exits 0 although a call has failed has made its new files; and an fsync that fails drops what was written.
func TestAtomicWhereCallsFail(t *testing.T) {
	saves := `perl -MIO::Handle -e 'open F, ">t"; print F "new"; F->flush; F->sync HEED; close F; rename "t", "f"'`
	for _, c := range []struct{ line, with, want string }{
		{"echo x > g; true", "ENOSPC", "g: nothing, not the new 2 bytes"},
		{strings.ReplaceAll(saves, "HEED", ""), "EIO", "f: 3 bytes that end in 3 zeros"},
		{strings.ReplaceAll(saves, "HEED", "or exit 1"), "EIO", ""},
	} {
		sc := scenario(t, "perl", []string{c.line}, map[string]string{"f": "old"},
			"failing-calls 1\nfail-with "+c.with+"\nrefused none")
		p, err := sc.Property("atomic")
		require.NoError(t, err)
		r, err := checker.Check(context.Background(), &sc, p, checker.Options{Workers: 1, SkipOdds: true})
		require.NoError(t, err)
		require.Equal(t, c.want == "", r.Verdict == checker.Holds, "%s: %s %s", c.line, r.Verdict, r.Why)
		if c.want != "" {
			require.Contains(t, r.Counterexample.Said, c.want)
		}
	}
}

// What a file system leaves is asked where it is assumed.
func TestAtomicOnFileSystems(t *testing.T) {
	for disk, want := range map[string]string{
		"posix": "f: 0 bytes", "ext4": "end in 6 zeros", "xfs": "f: 0 bytes", "btrfs": "f: 0 bytes",
	} {
		sc := scenario(t, "sed", []string{"sed -i s/a/b/ f"}, map[string]string{"f": "b\na\nc\n"},
			"power-losses 1\nassume "+disk+"\nrefused none")
		p, err := sc.Property("atomic")
		require.NoError(t, err)
		r, err := checker.Check(context.Background(), &sc, p, checker.Options{Workers: 1, SkipOdds: true})
		require.NoError(t, err)
		require.Contains(t, r.Counterexample.Said, want, disk)
	}
}

// A database is recovered by who reads it next, and a file of one is not judged.
func TestAtomicDatabase(t *testing.T) {
	sc := scenario(t, "sh", []string{"printf 'SQLite format 3\\000 new' > db"},
		map[string]string{"db": "SQLite format 3\x00 old"}, "crashes 1\nrefused none")
	_, claimed := sc.Claim(scenarios.Atomic)
	require.False(t, claimed)
	require.Contains(t, strings.Join(scenarios.Texts(sc.Assumes), "; "), "what is left of db is not asked")
}

// With several commands a file is as after any serial run of those, or of some.
func TestAtomicOfSeveral(t *testing.T) {
	sc := scenario(t, "sh", []string{"echo a > t && mv t f", "echo bb > u && mv u f"},
		map[string]string{"f": "ccc\n"}, "crashes 1\nrefused none")
	p, err := sc.Property("atomic")
	require.NoError(t, err)
	decide(t, sc, p, "holds")
}

// What a command that exits 0 has done outlives a loss of power if it has synced the file and, after a rename, the
// directory.
func TestDurable(t *testing.T) {
	for line, want := range map[string]string{
		"echo x > f; sync f":                         "holds",
		"flock l sh -c 'echo x > f; sync f'":         "holds", // l is a lock
		"echo x > f":                                 "broken",
		"echo x > t; sync t; mv t f; sync .":         "holds",
		"echo x > t; sync t; mv t f":                 "broken",
		"echo x > t; mv t f; sync .":                 "broken",
		"echo x > t; sync t; mv t f; sync .; exit 1": "holds", // it has reported nothing
	} {
		sc := scenario(t, "sync", []string{line}, map[string]string{"f": "old\n"}, "power-losses 1\nrefused 1")
		p, err := sc.Property("durable")
		require.NoError(t, err)
		decide(t, sc, p, want)
	}
}

// A reader or recovery that cannot be run on what is left says nothing about it: neither that it holds nor that it is
// broken.
func TestReaderThatCannotBeRun(t *testing.T) {
	const fails = `perl -e 'sysopen F, "f", 0x4000'` // O_DIRECT, which is not modelled
	for _, how := range []string{"read test -s f && cat f || " + fails, "recover test -s f || " + fails} {
		sc := scenario(t, "perl", []string{"echo new > f"}, map[string]string{"f": "old\n"},
			"crashes 1\nrefused none\n"+how)
		p, err := sc.Property("atomic")
		require.NoError(t, err)
		r, err := checker.Check(context.Background(), &sc, p, checker.Options{Workers: 1, SkipOdds: true})
		require.NoError(t, err)
		require.Equal(t, "unknown", r.Verdict.String(), how)
		require.Contains(t, r.Why, "what --recover or --read does with what is left is not known")
	}
}

// What is left is judged after a recovery, or by what a reader prints.
func TestReaders(t *testing.T) {
	testmain.Slow(t, "it runs a reader on everything that may be left", "./scenarios/command")
	const backup = "cp f tmp && mv tmp f.bak && echo newer > f && rm f.bak"
	for _, c := range []struct{ line, setting, property, want string }{
		{backup, "crashes 1", "atomic", "broken"},
		{backup, "crashes 1\nrecover test ! -e f.bak || mv f.bak f", "atomic", "holds"},
		{backup, "crashes 1\nrecover test ! -e f.bak", "atomic", "broken"}, // it must exit 0
		{backup, "crashes 1\nread cat f.bak 2>&- || cat f", "atomic", "holds"},
		{backup, "power-losses 1\nread cat f.bak 2>&- || cat f", "atomic", "broken"},
		{"echo x > t; sync t; mv t f", "power-losses 1\nread cat f", "durable", "broken"},
		{"echo x > t; sync t; mv t f; sync .", "power-losses 1\nread cat f", "durable", "holds"},
	} {
		sc := scenario(t, "sync", []string{c.line}, map[string]string{"f": "old\n"}, c.setting+"\nrefused none")
		p, err := sc.Property(c.property)
		require.NoError(t, err)
		r, err := checker.Check(context.Background(), &sc, p, checker.Options{Workers: 1, SkipOdds: true})
		require.NoError(t, err)
		require.Equal(t, c.want, r.Verdict.String(), "%s: %s %v", c.line, c.setting, r.Why)
	}
}
