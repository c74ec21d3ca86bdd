package edits

import (
	"math"

	"lockpick/checker/internal/edit"
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// Distance counts the calls by which two scenarios differ while one process runs alone: how many are to be added,
// left out or changed (V. I. Levenshtein, 1966). Of several processes it is the one that differs most.
func Distance(a, b *scenarios.Scenario) int { return distance(callsOf(a), callsOf(b)) }

func distance(a, b [][]string) (most int) {
	for i := range min(len(a), len(b)) {
		most = max(most, levenshtein(a[i], b[i]))
	}
	return most
}

// callsOf lists the calls of each process that runs alone, and of a loop that goes on for ever those of two rounds.
func callsOf(sc *scenarios.Scenario) (of [][]string) {
	for i := range sc.Setting.Processes {
		of = append(of, callsAlone(sc, i))
	}
	return of
}

// callsAlone is callsOf of one process. Descriptors have other numbers where another call is made.
func callsAlone(sc *scenarios.Scenario, process int) (calls []string) {
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
		edit.RunAlone(&noted, m, process, n+1, math.MaxInt, func(any) {})
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
