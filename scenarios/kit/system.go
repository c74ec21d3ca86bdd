package kit

import (
	"embed"
	"fmt"
	"path"
	"strings"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// A System is a program or library whose lock protocols are written down: what its rows
// share.
type System struct {
	// Name is the first part of every id.
	Name string
	// Lock is the path of the lock; its directory is made before the first step.
	Lock string
	// State is the file that the lock guards, where a row looks at one.
	State string
	// Report is the URL of the report, or of the source, where a row names none.
	Report string
	// Source is the Go text of the protocols, for reports.
	Source string
}

// At is the URL of a file on GitHub at a commit: a Report for a lock that was written down from its source.
func At(repo, commit, file string) string {
	return "https://github.com/" + repo + "/blob/" + commit + "/" + file
}

// Text is what some of a package's files say, for the Source of its scenarios.
func Text(files embed.FS, names ...string) string {
	var texts []string
	for _, name := range names {
		text, err := files.ReadFile(name)
		must(err)
		texts = append(texts, string(text))
	}
	return strings.Join(texts, "\n")
}

// Part is what a package's files say of one system, for the Source of its scenarios: the function of that name, which
// lists them, and all up to the next one that lists scenarios. A line directive says where in its file it stands.
func Part(files embed.FS, name string) string {
	const lists = "() []scenarios.Scenario {\n"
	names, err := files.ReadDir(".")
	must(err)
	for _, file := range names {
		text := Text(files, file.Name())
		at := strings.Index(text, "\nfunc "+name+lists)
		if at < 0 {
			continue
		}
		from := strings.LastIndex(text[:at], "\n\n") + 2 // its comment is above it
		to := len(text)
		if next := strings.Index(text[at+len("\nfunc "+name+lists):], lists); next >= 0 {
			to = strings.LastIndex(text[:at+len("\nfunc "+name+lists)+next], "\n\n") + 1
		}
		pkg, _, _ := strings.Cut(text[strings.Index(text, "package "):], "\n")
		line := 1 + strings.Count(text[:from], "\n")
		return fmt.Sprintf("%s\n\n//line %s:%d\n%s", pkg, file.Name(), line, text[from:to])
	}
	panic("kit: no function " + name + " lists scenarios")
}

// A Row is one variant of a system's protocol in one situation, with what is claimed.
type Row struct {
	// ID is variant/setting, the rest of the scenario's id.
	ID string
	// Does says in one sentence what the variant does, and in this situation.
	Does string
	// Report is the URL of the report or fix; empty means the system's.
	Report string
	// Lock is the protocol. A situation that runs programs of its own may do without.
	Lock scenarios.Protocol
	// In are the situations, applied in order.
	In []Situation
	// Alike: every process runs the same program; see scenarios.Setting.Interchangeable.
	Alike bool
	// Claims are the verdicts expected.
	Claims []scenarios.Claim
	// Watch lists further files that a timeline shows, after the lock and the state file.
	Watch []string
}

// A Situation changes a scenario of a protocol: how many there are, what lies there at
// the start, who may be killed.
type Situation func(sc *scenarios.Scenario, l scenarios.Protocol)

// In lists situations; it reads well in a Row.
func In(s ...Situation) []Situation { return s }

// Broken and Holds list what is claimed of a row.
func Broken(ps ...Property) []scenarios.Claim { return claims(scenarios.Broken, ps) }

// Holds claims that the properties hold; see [Broken].
func Holds(ps ...Property) []scenarios.Claim { return claims(scenarios.Holds, ps) }

// Property is short for *scenarios.Property.
type Property = *scenarios.Property

func claims(v scenarios.Verdict, ps []Property) []scenarios.Claim {
	var out []scenarios.Claim
	for _, p := range ps {
		out = append(out, scenarios.Claim{Property: p, Verdict: v})
	}
	return out
}

// Scenarios returns the scenarios of a system's rows. Before anything else the
// directories of the lock and of the state file are made, unless a situation leaves them
// out with [NoDirectory].
func (s System) Scenarios(rows ...Row) []scenarios.Scenario {
	var out []scenarios.Scenario
	for _, r := range rows {
		sc := scenarios.Scenario{
			ID: s.Name + "/" + r.ID, Summary: r.Does, Report: r.Report, Source: s.Source, Claims: r.Claims,
			Setting: scenarios.Setting{Processes: 1, Interchangeable: r.Alike},
		}
		if sc.Report == "" {
			sc.Report = s.Report
		}
		for _, p := range append([]string{s.Lock, s.State}, r.Watch...) {
			if p != "" {
				sc.Watch = append(sc.Watch, p)
				prepare(&sc, func(m *fsfake.Machine) { must(m.Proc(1).MkdirAll(path.Dir(p), 0o777)) })
			}
		}
		if r.Lock.Acquire != nil {
			sc.Subject = &scenarios.Subject{ID: s.Name + "/" + sc.Variant(), Lock: r.Lock, Setup: sc.Setup, Watch: sc.Watch[1:]}
		}
		for _, in := range r.In {
			in(&sc, r.Lock)
		}
		out = append(out, sc)
	}
	shareHandlers(out)
	return out
}

// shareHandlers gives the subject of each variant the signal handler that one of its rows has.
func shareHandlers(list []scenarios.Scenario) {
	handlers := map[string]scenarios.Program{}
	for i := range list {
		if s := list[i].Subject; s != nil && s.Handler != nil {
			handlers[s.ID] = s.Handler
		}
	}
	for i := range list {
		if s := list[i].Subject; s != nil {
			s.Handler = handlers[s.ID]
		}
	}
}

// prepare adds something to a scenario's Setup.
func prepare(sc *scenarios.Scenario, f func(m *fsfake.Machine)) {
	before := sc.Setup
	sc.Setup = func(m *fsfake.Machine) {
		if before != nil {
			before(m)
		}
		f(m)
	}
}

// must stops a Setup that fails: a scenario with half a disk would be judged wrongly.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
