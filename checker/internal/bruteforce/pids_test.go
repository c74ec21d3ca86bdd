package bruteforce

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Protocols of processes that run one program may use pids as names: what they write, and the paths of what they prepare, say
// who they are. "@" stands for the pid of whoever runs the statement.

// pids sometimes has equal programs write their pids, name what they prepare after them, and look whether it is their own that
// they read, or that of somebody who lives.
func (d *drawer) pids(r *rand.Rand) {
	elsewhere := d.p.has(func(s *Stmt) bool {
		return s.Do == Record || slices.Contains([]Kind{Load, Store, Add, CAS, Await}, s.Do)
	})
	if !d.p.Alike || elsewhere || r.IntN(2) == 0 {
		return
	}
	named := r.IntN(3) > 0 // files, too
	for process, tasks := range d.p.Programs {
		same := rand.New(rand.NewPCG(r.Uint64(), 0))
		if process > 0 { // equal programs stay equal
			d.p.Programs[process] = d.p.Programs[0]
			continue
		}
		for i := range tasks {
			tasks[i] = withPids(tasks[i], named, same)
		}
	}
	d.p.Pids = d.p.has(func(s *Stmt) bool { return strings.Contains(s.Path+s.To+s.Text, "@") })
}

// withPids is a copy of a program that says pids.
func withPids(body []Stmt, named bool, r *rand.Rand) []Stmt {
	if body == nil {
		return nil
	}
	out := []Stmt{}
	for _, s := range body {
		s.Body, s.Else, s.Release = withPids(s.Body, named, r), withPids(s.Else, named, r), withPids(s.Release, named, r)
		if s.Do == Write {
			s.Text = "@\n"
		}
		if named && s.Path == tempPath {
			s.Path += ".@"
		}
		if named && s.To == tempPath {
			s.To += ".@"
		}
		if s.Do == If && (s.Cond == IfText || s.Cond == IfNoText) {
			switch r.IntN(3) {
			case 0:
				s.Cond = IfMine
			case 1:
				out = append(out, Stmt{Do: Alive})
				s.Cond = IfNot
			}
		}
		out = append(out, s)
	}
	return out
}

// asProcess is a program as a process runs it.
func asProcess(body []Stmt, process int) []Stmt {
	out := slices.Clone(body)
	for i := range out {
		s := &out[i]
		for _, text := range []*string{&s.Path, &s.To, &s.Text} {
			*text = strings.ReplaceAll(*text, "@", strconv.Itoa(101+process))
		}
		s.Body, s.Else, s.Release = asProcess(s.Body, process), asProcess(s.Else, process), asProcess(s.Release, process)
	}
	return out
}
