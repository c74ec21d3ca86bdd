// Package reference writes docs/reference: the lock protocols that lockpick knows, shape by
// shape, with the verdict on each, its smallest schedule and its odds, and the pages that
// one looks things up in. Everything in it comes from verdicts and from the tables of
// package scenarios/all; the test of this package decides them and compares the files.
//
// All of it is in files of tests: nothing else imports it. It knows results and Markdown. It must
// not know how a verdict comes about.
//
// Limits: GitHub's Markdown only. Schedules are shown as text with the command that
// replays them; the pictures are made by `lockpick explain`.
package reference
