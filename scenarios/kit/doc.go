// Package kit holds what the descriptions of lock protocols have in common: the
// situations that a protocol is put into ([Contend], [DeadOwner], [Crash], …) and the
// few lines that most protocols begin with ([ReadAll], [Alive], [PrivateFile], …). With
// it a variant of a protocol is its calls and little else.
//
// [Text] picks the files of a package that reports show of a scenario.
//
// It knows the vocabulary of package scenarios and the fake machine. It must not know
// any one protocol, nor how a scenario is judged.
//
// Limits: a [System] has one lock and one state file. What needs more is a scenario of
// its own, written out.
package kit
