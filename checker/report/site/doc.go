// Package site writes results as a static web site: the matrix of all verdicts, a page
// for each scenario, and on it every counterexample as a timeline to step through.
//
// The pages need no network, no server and no JavaScript: without it, and on paper, all
// states of a counterexample are shown one below the other. Each page carries its own
// style and script, and a content security policy that allows nothing else, so a page
// can be opened from a file URL or attached to a report on its own.
//
// It knows results, traces and HTML. It must not know flags, clocks
// or how a verdict is made. Equal results give equal bytes.
//
// Limits: the site is written into a directory and never cleans it: pages of an earlier
// run with other scenarios stay.
package site
