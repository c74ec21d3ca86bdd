// Package explain computes from a trace why a property broke: who relied on what it had seen
// after somebody else had changed it, what a kill left half done, who waits for whom.
//
// It knows traces (package trace), the machine's calls and the vocabulary of scenarios. It
// must not know how a trace was found.
//
// # Limits
//
// A cause is a reading of one trace in English, not a proof. When nothing better is known it
// says what the last step answered.
package explain
