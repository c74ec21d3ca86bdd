package report

import (
	"fmt"
	"slices"
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
	return inSetting(words, r.Scenario)
}

// RepairCommand is the command that looks for a change of a protocol in Go after which r is no longer broken, in the
// setting that the scenario is in; empty where it would not ask for r's property, or could change nothing.
func RepairCommand(r *checker.Result, o Options) string {
	asked := slices.ContainsFunc(r.Scenario.Claims, func(c scenarios.Claim) bool { return c.Property == r.Property })
	if r.Verdict != checker.Broken || r.Scenario.External || !asked {
		return ""
	}
	return inSetting([]string{o.program(), "repair", ShellWord(r.Scenario.ID)}, r.Scenario)
}

// inSetting is a command with the flags of the setting that a scenario is in.
func inSetting(words []string, sc *scenarios.Scenario) string {
	for _, c := range sc.Changed() {
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
