package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"lockpick/checker"
)

// GitHub writes what is not as claimed as workflow commands, which GitHub shows as
// annotations of a run: an error for a verdict that differs from its claim, a warning
// for one that could not be reached. What is as claimed is not mentioned: GitHub shows
// ten annotations of a step at most.
//
// The commands are read from standard error as well as from standard output.
func GitHub(w io.Writer, results []checker.Result, o Options) error {
	b := bufio.NewWriter(w)
	for i := range results {
		r := &results[i]
		command := "error"
		switch outcomeOf(r) {
		case passed:
			continue
		case undecided:
			command = "warning"
		}
		_, _ = fmt.Fprintf(b, "::%s %stitle=%s::%s\n", command, o.githubPlace(r), githubProperty(headline(r)), githubData(detail(r, o)))
	}
	return b.Flush()
}

// githubPlace is the file and the line of the call that went wrong, when they are known.
func (o *Options) githubPlace(r *checker.Result) string {
	if r.Counterexample == nil {
		return ""
	}
	s := o.whereWrong(r.Counterexample)
	switch {
	case s.File == "":
		return ""
	case s.Line == 0:
		return fmt.Sprintf("file=%s,", githubProperty(o.file(s.File)))
	}
	return fmt.Sprintf("file=%s,line=%d,", githubProperty(o.file(s.File)), s.Line)
}

// githubData escapes the message of a workflow command: it ends with the line.
func githubData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

// githubProperty escapes a property of a workflow command, which also ends at a comma or
// a colon.
func githubProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}
