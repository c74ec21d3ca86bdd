package command

import (
	"cmp"
	"fmt"
	"os/exec"
	"strings"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// A Line is one command: Argv, or the text of a shell command; or else a Go function.
type Line struct {
	// Argv is the program and its arguments.
	Argv []string
	// Shell is run by sh -c when Argv is empty.
	Shell string
	// Stdin is what the command reads from its standard input.
	Stdin string
	// Func, when not nil, is what the process runs instead: a function of one task, which ends with status 0 when it
	// returns, and otherwise by [fsfake.Proc.ExitWith]. It is a cleaner in Go beside a script, say. Shell is what it is
	// called then. It cannot be written down in an archive, and a run in which it takes part is not carried out on the
	// kernel.
	Func scenarios.Program
}

// String is the command as a person would type it.
func (l Line) String() string {
	if l.Func != nil {
		return cmp.Or(l.Shell, "a Go function")
	}
	if len(l.Argv) == 0 {
		return l.Shell
	}
	words := make([]string, len(l.Argv))
	for i, w := range l.Argv {
		words[i] = w
		if w == "" || strings.ContainsAny(w, " "+special) {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// same reports whether two commands read the same, of which functions may do something else.
func (l Line) same(m Line) bool { return l.String() == m.String() && l.Stdin == m.Stdin }

// Exec is what is executed. A shell command of plain words, and of words in quotes, needs no shell, which
// would be a process more.
func (l Line) Exec() []string { return l.argv() }

func (l Line) argv() []string {
	if len(l.Argv) > 0 {
		return l.Argv
	}
	words, ok := plainWords(l.Shell)
	if !ok || isBuiltin(words[0]) {
		return []string{"sh", "-c", l.Shell}
	}
	return words
}

// plainWords splits a shell command into its words. It is false when a shell does more with one of
// them than to take the quotes away.
func plainWords(text string) (words []string, ok bool) {
	var word strings.Builder
	within := false // a word has begun
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == ' ':
			if within {
				words = append(words, word.String())
			}
			word.Reset()
			within = false
		case c == '\'' || c == '"':
			n := strings.IndexByte(text[i+1:], c)
			if n < 0 || len(words) == 0 || c == '"' && strings.ContainsAny(text[i+1:i+1+n], "$`\\!") {
				return nil, false
			}
			word.WriteString(text[i+1 : i+1+n])
			within = true
			i += n + 1
		case c == '=' && len(words) == 0: // before the command it sets a variable
			return nil, false
		case strings.IndexByte(special+"{}!", c) >= 0:
			return nil, false
		default:
			word.WriteByte(c)
			within = true
		}
	}
	if within {
		words = append(words, word.String())
	}
	return words, len(words) > 0
}

// special are the characters that mean something to a shell.
const special = "\t\n'\"$&|;<>()*?[]\\`~#"

// isBuiltin reports whether a shell command begins with a word that only a shell knows.
func isBuiltin(word string) bool {
	_, err := exec.LookPath(word)
	return err != nil && !strings.Contains(word, "/")
}

// A Go function beside commands. It makes its calls on the same machine, and starts in the same directory; nothing
// of it runs on the kernel.

// function is the program of a process that runs a Go function.
func (s *Spec) function(f scenarios.Program) scenarios.Program {
	return func(t *scenarios.Task) {
		in, port := *t, &endPort{Proc: t.Proc}
		in.Proc = fsfake.NewProc(port, t.Proc.Getpid(), 1)
		f(&in)
		if !port.ended {
			port.Do(fsfake.Op{Call: fsfake.CallEnd})
		}
	}
}

// An endPort keeps how the process ends, and that it has.
type endPort struct {
	*fsfake.Proc
	ended bool
}

// Do implements fsfake.Port.
func (p *endPort) Do(op fsfake.Op) fsfake.Result {
	if op.Call == fsfake.CallExit {
		op = fsfake.Op{Call: fsfake.CallEnd}
	}
	p.ended = p.ended || op.Call == fsfake.CallEnd
	return p.Proc.Do(op)
}

// notCarried is why steps are not carried out on the kernel of which some are a Go function's; nil where none is.
func (s *Spec) notCarried(steps []Step) error {
	for _, st := range steps {
		if s.Commands[st.Process].Func != nil {
			return fmt.Errorf("%s is a Go function, which runs on the fake machine alone",
				scenarios.ProcessName(st.Process))
		}
	}
	return nil
}
