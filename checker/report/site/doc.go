// Package site writes results as a static web site: the matrix of all verdicts, a page
// for each scenario, and on it every counterexample as a timeline to step through.
//
// The pages need no network, no server and no JavaScript: without it, and on paper, all
// states of a counterexample are shown one below the other. Each page carries its own
// style and script, and a content security policy that allows nothing else, so a page
// can be opened from a file URL or attached to a report on its own.
//
// A small scenario's page carries everything that can happen in it, as a graph that the engine
// has explored and live runs have shown: one chooses who takes the next step. That part needs
// JavaScript.
//
// It knows results, traces, places ([checker.Places]) and HTML. It must not know flags, clocks
// or how a verdict is made. Equal results give equal bytes.
//
// Limits: the site is written into a directory and never cleans it: pages of an earlier
// run with other scenarios stay. A graph of more than 4 000 moves is not carried, and one of a real
// program or about cycles neither; who polls for ever in vain is not noticed while one tries.
package site
