package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A page is docs/tutorial.md with its blocks as they should be: code as it is in the
// files, output as the commands print it.
type page struct {
	t    *testing.T
	text string
}

func newPage(t *testing.T) *page {
	t.Helper()
	text, err := os.ReadFile(tutorial + ".md")
	require.NoError(t, err)
	p := &page{t, string(text)}
	files := regexp.MustCompile(`<!-- file: (\S+) -->`).FindAllStringSubmatch(p.text, -1)
	require.NotEmpty(t, files)
	for _, m := range files {
		code, err := os.ReadFile(filepath.Join(tutorial, m[1]))
		require.NoError(t, err)
		p.block("file: "+m[1], string(code))
	}
	return p
}

// output sets what a command prints.
func (p *page) output(name, text string) {
	p.t.Helper()
	p.block("output: "+name, text)
}

// block sets the fenced block that follows a mark.
func (p *page) block(mark, text string) {
	p.t.Helper()
	before, after, found := strings.Cut(p.text, "<!-- "+mark+" -->\n```")
	require.True(p.t, found, mark)
	language, after, _ := strings.Cut(after, "\n")
	_, after, found = strings.Cut("\n"+after, "\n```\n")
	require.True(p.t, found, "the block of %s has no end", mark)
	p.text = before + "<!-- " + mark + " -->\n```" + language + "\n" + strings.TrimRight(text, "\n") + "\n```\n" + after
}

// stateless leaves out how many states there were, which is the engine's business.
func stateless(s string) string {
	return regexp.MustCompile(` · [0-9  ]+ states`).ReplaceAllString(s, "")
}

// timeless leaves the durations out of what go test prints, and blanks at line ends.
func timeless(s string) string {
	s = regexp.MustCompile(` \(\d+\.\d+s\)`).ReplaceAllString(s, "")
	s = regexp.MustCompile(`(?m)\t\d+\.\d+s$`).ReplaceAllString(s, "")
	return regexp.MustCompile(`(?m) +$`).ReplaceAllString(s, "")
}

// timeline is the timeline in what go test prints, without the indentation.
func timeline(s string) string {
	var out []string
	for _, l := range strings.Split(s, "\n") {
		if text, ok := strings.CutPrefix(l, "            "); ok {
			out = append(out, text)
		}
	}
	return strings.TrimSpace(strings.Join(out, "\n"))
}
