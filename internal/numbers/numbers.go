// Package numbers writes numbers with their nouns, in one way for all reports.
//
// It knows English plurals that it is told, and nothing of what is counted.
package numbers

import (
	"strconv"
	"strings"
)

// Count renders "1 process", "2 processes", "12 000 processes".
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Number(n) + " " + many
}

// Number renders a number of five digits and more with a gap between groups of three.
func Number(n int) string {
	d := strconv.Itoa(n)
	var b strings.Builder
	for i, r := range d {
		if i > 0 && (len(d)-i)%3 == 0 && len(d) > 4 {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return b.String()
}
