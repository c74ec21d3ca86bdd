// Package explain computes from a trace why a property broke. A cause names what was seen
// and in which step, what changed it since, who did that and by what it went, what was done
// on the strength of the look, and the call that takes what is there without asking. Where
// no look is at fault it tells which kernel lock was lost and how, whose lock stood in the
// way of whom, what a kill or a loss of power left half done, who waits for whom.
//
// It knows traces (package trace), the machine's calls, the vocabulary of scenarios, and by
// which specification a history is judged. It must not know how a trace was found.
//
// # Limits
//
// A cause is a reading of one trace in English, not a proof: it tells the first of the
// mistakes it knows that the trace shows. What a program has read into its memory it infers
// from its calls. When nothing better is known it says which answer nothing explains.
package explain
