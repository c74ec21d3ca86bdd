package checkertest

import "strings"

// diff shows how two texts differ, line by line: what both have with a blank in front,
// what is only in was with a minus, what is only in now with a plus; long stretches
// that both have are left out. Equal texts give "".
func diff(was, now []string) string {
	same := common(was, now)
	var lines []string
	i, j := 0, 0
	changed := false
	for i < len(was) || j < len(now) {
		switch {
		case i < len(was) && j < len(now) && was[i] == now[j]:
			lines = append(lines, "  "+was[i])
			i, j = i+1, j+1
		case j == len(now) || i < len(was) && same[i+1][j] >= same[i][j+1]:
			lines = append(lines, "- "+was[i])
			i, changed = i+1, true
		default:
			lines = append(lines, "+ "+now[j])
			j, changed = j+1, true
		}
	}
	if !changed {
		return ""
	}
	return strings.Join(around(lines, 3), "\n")
}

// common says how many lines the texts from i and j on have in common at most.
func common(a, b []string) [][]int {
	n := make([][]int, len(a)+1)
	for i := range n {
		n[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				n[i][j] = n[i+1][j+1] + 1
			} else {
				n[i][j] = max(n[i+1][j], n[i][j+1])
			}
		}
	}
	return n
}

// around keeps the lines that differ, and n lines before and after each.
func around(lines []string, n int) []string {
	var out []string
	skipped := false
	for i := range lines {
		near := false
		for k := max(0, i-n); k <= min(len(lines)-1, i+n); k++ {
			near = near || lines[k][0] != ' '
		}
		switch {
		case near:
			out, skipped = append(out, lines[i]), false
		case !skipped:
			out, skipped = append(out, "  …"), true
		}
	}
	return out
}
