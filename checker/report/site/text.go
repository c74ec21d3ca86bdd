package site

import (
	"strings"

	"lockpick/internal/numbers"
)

// count renders "1 process", "2 processes".
func count(n int, one, many string) string {
	return grouped(n) + strings.TrimPrefix(numbers.Count(n, one, many), numbers.Number(n))
}

// grouped renders a number with a narrow space, where no line breaks, between groups of
// digits.
func grouped(n int) string { return strings.ReplaceAll(numbers.Number(n), " ", "\u202f") }
