package edits

import (
	"lockpick/checker/internal/edit"
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// Distance counts the calls by which two scenarios differ while one process runs alone: how many are to be added,
// left out or changed (V. I. Levenshtein, 1966). Of several processes it is the one that differs most.
func Distance(a, b *scenarios.Scenario) (most int) {
	for i := range min(a.Setting.Processes, b.Setting.Processes) {
		most = max(most, levenshtein(callsOf(a, i), callsOf(b, i)))
	}
	return most
}

// callsOf lists the calls of a process that runs alone. Descriptors have other numbers where another call is made.
func callsOf(sc *scenarios.Scenario, process int) (calls []string) {
	m, err := sc.Start()
	if err != nil || sc.Setting.AfterReboot(process) {
		return nil
	}
	noted := edit.Through(*sc, func(_ *scenarios.Task, p fsfake.Port) fsfake.Port {
		return edit.Calls{Port: p, Make: func(op fsfake.Op) fsfake.Result {
			if c := op; c.Call != edit.Work.Call {
				c.FD = 0
				calls = append(calls, c.String())
			}
			return p.Do(op)
		}}
	})
	for n := range sc.Setting.TasksOf(process) {
		edit.RunAlone(&noted, m, process, n+1, 0, func(any) {})
	}
	return calls
}

func levenshtein(a, b []string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		before := row[0]
		row[0] = i + 1
		for j := range b {
			changed := before
			if a[i] != b[j] {
				changed++
			}
			before = row[j+1]
			row[j+1] = min(changed, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
