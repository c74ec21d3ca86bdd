// Package numbers writes numbers with their nouns, and lists, in one way for all reports.
//
// It knows English plurals that it is told, and nothing of what is counted.
package numbers

import (
	"fmt"
	"math"
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

// InWords renders a count that may be very large, of 0 or more: "309 222", "2.1 billion", "more than 10^18".
func InWords(n float64) string {
	if n < 1e6 {
		return Number(int(n))
	}
	for _, scale := range []struct {
		unit float64
		name string
	}{{1e6, "million"}, {1e9, "billion"}, {1e12, "trillion"}, {1e15, "quadrillion"}} {
		if n < 999.5*scale.unit {
			digits := len(strconv.Itoa(int(n/scale.unit + 0.5)))
			return strconv.FormatFloat(n/scale.unit, 'g', max(2, digits), 64) + " " + scale.name
		}
	}
	return "more than 10^" + strconv.Itoa(int(math.Log10(n)))
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

// Few joins the first five words by commas, and says how many more there are.
func Few(words []string) string {
	const most = 5
	if len(words) <= most {
		return strings.Join(words, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(words[:most], ", "), len(words)-most)
}

// List joins words as in "A, B and C".
func List(words []string) string {
	n := len(words)
	if n < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
}
