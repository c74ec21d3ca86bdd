// Package report renders what package checker found: one format a file, each a function
// of results to an io.Writer.
//
//   - [Timeline] draws one run for a person: a column per task, files at the right.
//   - [Tables] draw many verdicts for a design review.
//   - [Markdown] writes for an issue or a pull request; [SVG] draws for a slide.
//   - [JUnit], [SARIF] and [GitHub] tell CI systems what is not as claimed.
//   - [JSON] writes the stable, versioned document of docs/schema.
//   - [Bundle] and [ParseBundle] keep one counterexample in a file that can be
//     committed.
//
// A [Chart] is what the timelines of every format are drawn from: rows, cells and marks,
// without any layout. A new format starts there.
//
// It knows results, traces and schedules. It must not know flags, files, terminals or
// clocks: width and colour are a [Style], and equal input gives equal bytes.
//
// Names, contents and summaries are somebody else's: what is written for people shows them
// by [Visible], so that none of them can play with a terminal, and counts the columns that
// their letters take (golang.org/x/text/width). Lists and tables fit the width of the Style,
// from 60 columns on; the command that replays stays on one line, for it is there to be
// copied.
//
// Limits: file contents and calls are shortened for people, so the machine formats, not the
// timeline, are what to parse.
package report
