package command_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lockpick/scenarios/command"
)

// What is written as an archive is read as it was, to the byte.
func TestFormat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s command.Spec
		word := rapid.SampledFrom([]string{"sh", "a b", "", "'", "x\ny", `["a"]`, " lead", "-- n --", "\xff", "ü", "$x"})
		for i := range rapid.IntRange(1, 3).Draw(t, "commands") {
			l := command.Line{Argv: []string{"sh", "-c", word.Draw(t, "arg")}}
			if rapid.Bool().Draw(t, "shell") {
				l = command.Line{Shell: rapid.SampledFrom([]string{"sh a", "flock n sh a", "[ -e x ]", "a  b"}).Draw(t, "line")}
			}
			if i == 0 {
				l.Stdin = word.Draw(t, "stdin")
			}
			s.Commands = append(s.Commands, l)
		}
		names := rapid.SampledFrom([]string{"n", "commands", "setting", `"q"`, "a b", "d/x", " blank", "x -- y", "-- z --", "line\nend", "run/n", "ü"})
		seen := map[string]bool{}
		for range rapid.IntRange(0, 4).Draw(t, "files") {
			f := command.File{
				Name: names.Draw(t, "name"), Mode: uint32(rapid.SampledFrom([]int{0o644, 0o755, 0o600, 0o1777}).Draw(t, "mode")),
				Age: rapid.SampledFrom([]time.Duration{0, -time.Second, time.Second, 36 * time.Hour, 7}).Draw(t, "age"),
			}
			switch rapid.IntRange(0, 2).Draw(t, "kind") {
			case 0:
				f.Name += "/"
			case 1:
				f.Link = "to " + f.Name
			default:
				f.Content = rapid.SampledFrom([]string{"", "0\n", "0", "\n\n", "-- n --\nx\n", "a\r\nb", "\x00\xff", "#!/bin/sh\n"}).Draw(t, "content")
			}
			if !seen[f.Name] {
				seen[f.Name] = true
				s.Files = append(s.Files, f)
			}
		}
		s.Dir = rapid.SampledFrom([]string{"", "/srv"}).Draw(t, "dir")
		s.Inside = rapid.SampledFrom([]string{"", "cs"}).Draw(t, "inside")
		s.NoStdout = rapid.Bool().Draw(t, "stdout")
		for _, f := range command.Fields() {
			if text, ok := fieldTexts[f.Name]; ok && rapid.Bool().Draw(t, f.Name) {
				require.NoError(t, s.Set(f.Flag, text))
			}
		}
		s.Env = rapid.SampledFrom([][]string{nil, {"A=b c"}, {"A=", "B=1"}}).Draw(t, "env")
		s.Ignore = rapid.SampledFrom([][]string{nil, {"*.log", "x"}}).Draw(t, "ignore")
		s.Timeout = rapid.SampledFrom([]time.Duration{0, time.Minute}).Draw(t, "timeout")
		s.Refused = rapid.SampledFrom([]command.Refused{{}, {Declared: true}, {Declared: true, Skips: true},
			{Declared: true, Statuses: []int{1, 75}},
			{Declared: true, Statuses: []int{5}, All: true}}).Draw(t, "refused")
		s.Recover, s.Read = rapid.SampledFrom([]string{"", "git fsck"}).Draw(t, "recover"),
			rapid.SampledFrom([]string{"", "cat f | sort"}).Draw(t, "read")

		text, err := s.Format()
		if err != nil {
			t.Fatal(err)
		}
		again, err := command.Parse(text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		require.Equal(t, s, again, "%s", text)
	})
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"-- commands --\n[\"a\", 1]\n":                                              "no list of quoted words",
		"-- commands --\ntrue\n-- \"x --\n":                                         "not quoted",
		"-- commands --\ntrue\n-- n --\n-- n --\n":                                  "two parts",
		"-- commands --\ntrue\n-- setting --\nfile 0644 0s text n\n":                "not quoted",
		"-- commands --\ntrue\n-- setting --\nfile 0944 0s text \"n\"\n":            "octal",
		"-- commands --\ntrue\n-- setting --\nfile 0644 1 text \"n\"\n":             "age",
		"-- commands --\ntrue\n-- setting --\nfile 0644 0s\n":                       "give MODE",
		"-- commands --\ntrue\n-- setting --\nfile 0644 0s text \"n\"\n":            "give it a part",
		"-- commands --\ntrue\n-- setting --\nfile 0644 0s odd \"n\"\n-- n --\n":    "unknown",
		"-- commands --\ntrue\n-- setting --\nfile 0644 0s text \"n\" x\n-- n --\n": "too much",
		"-- commands --\ntrue\n-- setting --\nfile 0777 0s link \"n\"\n":            "target",
		"-- commands --\ntrue\n-- setting --\nfile 0755 0s dir \"d/\"\n-- n --\n":   "not among them",
		"-- commands --\ntrue\n-- setting --\nstdin 2 \"x\"\n":                      "stdin",
	} {
		_, err := command.Parse([]byte(text))
		require.ErrorContains(t, err, want, "%s", text)
	}
}
