package site

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// count renders "1 process", "2 processes".
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return grouped(n) + " " + many
}

// grouped renders a number with a narrow space between groups of three digits.
func grouped(n int) string {
	d := strconv.Itoa(n)
	var b strings.Builder
	for i, r := range d {
		if i > 0 && (len(d)-i)%3 == 0 && len(d) > 4 {
			b.WriteString("\u202f")
		}
		b.WriteRune(r)
	}
	return b.String()
}

// oddsText renders the probability that a random schedule hits a violation.
func oddsText(p float64) string {
	switch {
	case p <= 0:
		return ""
	case p > 0.995:
		return "every random schedule"
	case p >= 0.1:
		return fmt.Sprintf("%.0f %% of random schedules", 100*p)
	}
	n := 1 / p
	if step := math.Pow(10, math.Floor(math.Log10(n))-1); step > 1 {
		n = math.Round(n/step) * step // two digits count
	}
	if n > 1e9 {
		return fmt.Sprintf("1 in %.0e random schedules", n)
	}
	return fmt.Sprintf("1 in %s random schedules", grouped(int(math.Round(n))))
}

// list joins words as in "A, B and C".
func list(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}
