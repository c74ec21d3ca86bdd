package report

import (
	"fmt"
	"strings"

	"lockpick/checker"
	"lockpick/scenarios"
)

// ReplayCommand is the command that shows r's counterexample again, in the setting that
// the scenario is in.
func ReplayCommand(r *checker.Result, o Options) string {
	if o.Replay != nil {
		return o.Replay(r)
	}
	words := []string{o.program(), "replay", ShellWord(r.Scenario.ID), ShellWord(r.Counterexample.Schedule.String())}
	// Without the flag, replay takes the first property claimed broken that breaks.
	if first, ok := firstBroken(r.Scenario); !ok || first != r.Property {
		words = append(words, "--property", r.Property.ID)
	}
	for _, c := range r.Scenario.Changed() {
		if c.Flag != "" {
			words = append(words, "--"+c.Flag, ShellWord(c.To))
		}
	}
	return strings.Join(words, " ")
}

func firstBroken(sc *scenarios.Scenario) (*scenarios.Property, bool) {
	for _, c := range sc.Claims {
		if c.Verdict == checker.Broken {
			return c.Property, true
		}
	}
	return nil, false
}

// ShellWord quotes a word for a shell when it needs it: with quotation marks, which every
// shell knows, or, when it has what cannot be shown, as $'…' does.
func ShellWord(word string) string {
	const safe = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./+,:@%"
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !strings.ContainsRune(safe, r) }) < 0 {
		return word
	}
	if Visible(word) != word {
		var b strings.Builder
		for _, c := range []byte(word) {
			switch {
			case c == '\'' || c == '\\':
				b.WriteByte('\\')
				b.WriteByte(c)
			case c < ' ' || c > '~':
				fmt.Fprintf(&b, `\x%02x`, c)
			default:
				b.WriteByte(c)
			}
		}
		return "$'" + b.String() + "'"
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
