package command

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"lockpick/fsfake"
	"lockpick/fsfake/tracer"
	"lockpick/internal/outcome"
	"lockpick/scenarios"
)

// A reader looks at what is left in the directory with commands of its own, alone: one that recovers it, and one that
// prints what is in it. Each machine is looked at once.
type reader struct {
	recover, read string
	spec          Spec // its last command is the reader's
	sc            scenarios.Scenario
	mu            sync.Mutex
	seen          map[string][]outcome.Entry // by the machine's key; nil where one of its commands could not be run
	err           error                      // the first
}

// newReader returns a reader for a scenario, or nil where none is asked for.
func (s *Spec) newReader(sc *scenarios.Scenario) *reader {
	if s.Recover == "" && s.Read == "" {
		return nil
	}
	r := &reader{recover: s.Recover, read: s.Read, spec: *s, sc: *sc, seen: map[string][]outcome.Entry{}}
	r.spec.Crashes, r.spec.Inside, r.spec.Refused, r.spec.ownOrders = 0, "", Refused{Declared: true}, 1
	r.spec.record, r.spec.shared, r.spec.early = newRecord(), nil, nil
	r.spec.Commands = append(slices.Clone(s.Commands), Line{Shell: s.Recover}, Line{Shell: s.Read})
	r.sc.Program = r.spec.program
	return r
}

// look returns what there is to compare of a machine: its files after the recovery, or what is printed then.
func (r *reader) look(v scenarios.View) []outcome.Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := v.Clone()
	for _, pid := range m.Pids() {
		if pid != 1 {
			m.KillProc(pid)
		}
	}
	key := string(m.AppendKey(nil))
	if _, known := r.seen[key]; !known {
		found, err := r.looks(m)
		if err != nil {
			found, r.err = nil, cmp.Or(r.err, err)
		}
		r.seen[key] = found
	}
	return r.seen[key]
}

// looks runs the commands of the reader. Where they cannot be run nobody knows what they find.
func (r *reader) looks(m *fsfake.Machine) (out []outcome.Entry, err error) {
	n := len(r.spec.Commands)
	if r.recover != "" {
		text, err := r.run(m, n-2, false)
		if err != nil {
			return nil, err
		}
		out = append(out, outcome.Entry{Name: "--recover", Thing: outcome.Told(text), Always: true})
		if text != "= exit 0" {
			return out, nil
		}
	}
	if r.read == "" {
		return append(out, r.spec.tree(scenarios.NewView(m))...), nil
	}
	text, err := r.run(m, n-1, true)
	return append(out, outcome.Entry{Name: "--read", Thing: outcome.Told(text), Always: true}), err
}

// run runs one of its commands, and says how that ends.
func (r *reader) run(m *fsfake.Machine, process int, prints bool) (string, error) {
	m.AddProc(r.spec.procSpec(process))
	_, err := r.spec.alone(&r.sc, m, process, false, nil, never, nil)
	if errors.As(err, new(stuck)) {
		return "= no end", nil
	}
	if err != nil {
		return "", err
	}
	e, ended := scenarios.NewView(m).Exit(scenarios.ProcessName(process))
	text := "= " + outcome.ExitText(e, ended)
	if prints {
		text += " " + strconv.Quote(e.Output)
	}
	return text, nil
}

// failed says why nothing can be said of what a reader finds; "" where it can.
func (r *reader) failed() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		return ""
	}
	return fmt.Sprintf("what --recover or --read does with what is left is not known: %v", r.err)
}

// Unseen says, of an error of the commands, why nothing can be said of them: they read or write without calls, or do
// what is not modelled. "" for no reason, and for a path that [Spec.Extend] follows out of the directory.
func (s *Spec) Unseen(err error) string {
	e, u := new(tracer.Error), notModelled{}
	switch found := errors.As(err, &e); {
	case err != nil && s.follows(err):
		return ""
	case errors.As(err, &u):
		return u.Error()
	case found && e.Unmodelled:
		return strings.TrimPrefix(e.Error(), "tracer: ")
	case found && e.Shared != "":
		advice := ""
		if strings.Contains(e.Shared, "/hsperfdata_") {
			advice = "; a JVM does without it after java -XX:-UsePerfData"
		}
		return fmt.Sprintf("%s maps the file %s as shared memory. What it reads and writes there is done without calls, "+
			"and is not seen%s: %s", e.Program, e.Shared, advice, e.Call)
	case err != nil && strings.Contains(err.Error(), fsfake.SharedChange):
		return fmt.Sprintf("A file that a program maps as shared memory is written later. Whether the program sees that "+
			"is not known: %v", err)
	}
	return ""
}

// A notModelled says what a command does that the machine does not know.
type notModelled struct{ error }

// found is what is judged of a machine: its files, or what the reader finds.
func (s *Spec) found(v scenarios.View) outcome.Outcome {
	o := s.outcome(v)
	if s.reader != nil {
		o.Tree = s.reader.look(v)
	}
	return o
}
