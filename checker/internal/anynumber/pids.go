package anynumber

import (
	"strconv"
	"strings"

	"lockpick/scenarios"
)

// In texts a process is named by its pid, 101 to 126, or by its start time, 1000 to 1025: a run of digits that is
// one of these is a token. Other numbers are text.

// tokens visits the tokens of a text: whose it is, and where it stands.
func tokens(s string, visit func(pid, from, to int)) {
	for i := 0; i < len(s); {
		j := i
		for j < len(s) && '0' <= s[j] && s[j] <= '9' {
			j++
		}
		if j-i == 3 || j-i == 4 {
			n, _ := strconv.Atoi(s[i:j])
			if j-i == 4 {
				n -= int(scenarios.ProcID(0).Start) - scenarios.Pid(0)
			}
			if _, ok := scenarios.ProcessOf(n); ok {
				visit(n, i, j)
			}
		}
		i = max(j, i+1)
	}
}

// pidsIn lists whom a text names, in its order.
func pidsIn(s string) (all []int) {
	tokens(s, func(pid, _, _ int) { all = append(all, pid) })
	return all
}

// startOf is the start time of the process with a pid.
func startOf(pid int) int64 { return scenarios.ProcID(pid - scenarios.Pid(0)).Start }

// renamed is a text with other processes in it.
func renamed(s string, to func(pid int) int) string {
	var b strings.Builder
	done := 0
	tokens(s, func(pid, from, end int) {
		b.WriteString(s[done:from])
		q := to(pid)
		if end-from == 4 {
			q = int(startOf(q))
		}
		b.WriteString(strconv.Itoa(q))
		done = end
	})
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}
