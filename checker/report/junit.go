package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"lockpick/checker"
)

// JUnit writes results as JUnit XML, in the dialect that Jenkins, GitLab and most
// others read: a suite for each system, a case for each verdict.
//
// A verdict that is not as claimed is a failure, with its timeline. A verdict that could
// not be reached is an error, with the reason: it is not a pass. What is broken as
// claimed passes, and has its timeline in system-out.
func JUnit(w io.Writer, results []checker.Result, o Options) error {
	doc := junitSuites{Name: "lockpick"}
	for _, g := range Systems(results) {
		s := junitSuite{Name: g[0][0].Scenario.System()}
		elapsed := time.Duration(0)
		for _, row := range g {
			for _, r := range row {
				c, err := junitCaseOf(r, o)
				if err != nil {
					return err
				}
				s.Cases = append(s.Cases, c)
				s.count(&c)
				elapsed += r.Elapsed
			}
		}
		s.Time = junitTime(elapsed, o)
		doc.Tests, doc.Failures, doc.Errors = doc.Tests+s.Tests, doc.Failures+s.Failures, doc.Errors+s.Errors
		doc.Suites = append(doc.Suites, s)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(doc); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Time     string      `xml:"time,attr,omitempty"`
	Cases    []junitCase `xml:"testcase"`
}

func (s *junitSuite) count(c *junitCase) {
	s.Tests++
	if c.Failure != nil {
		s.Failures++
	}
	if c.Error != nil {
		s.Errors++
	}
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Time    string        `xml:"time,attr,omitempty"`
	Error   *junitProblem `xml:"error"`
	Failure *junitProblem `xml:"failure"`
	Out     *junitText    `xml:"system-out"`
}

type junitProblem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",cdata"`
}

type junitText struct {
	Text string `xml:",cdata"`
}

func junitCaseOf(r *checker.Result, o Options) (junitCase, error) {
	c := junitCase{
		// Readers split the class at dots, into packages and a class.
		Class: strings.ReplaceAll(r.Scenario.ID, "/", "."), Name: r.Property.ID,
		Time: junitTime(r.Elapsed, o),
	}
	text, err := plainTimeline(r, o)
	if err != nil {
		return c, err
	}
	text = "\n" + xmlText(text) + "\n"
	problem := &junitProblem{Message: xmlText(headline(r)), Type: r.Property.ID, Text: text}
	switch outcomeOf(r) {
	case failed:
		c.Failure = problem
	case undecided:
		c.Error = problem
	default:
		c.Out = &junitText{text}
	}
	return c, nil
}

// junitTime is in seconds, and only there when it was asked for: it differs from run to
// run.
func junitTime(d time.Duration, o Options) string {
	if !o.Timings {
		return ""
	}
	return fmt.Sprintf("%.3f", d.Seconds())
}

// xmlText leaves out what XML 1.0 has no way to write.
func xmlText(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r >= 0x20 && r <= 0xD7FF || r >= 0xE000 && r < 0xFFFD || r >= 0x10000:
			return r
		}
		return utf8.RuneError
	}, s)
}
