package engine

import "lockpick/checker/trace"

// Contended reports whether any of some calls met somebody else's lock. It is how a verdict
// "holds" shows that it is not vacuous.
func Contended(calls []trace.Call) bool {
	for i := range calls {
		if calls[i].Op.Call.Contends(&calls[i].Result) {
			return true
		}
	}
	return false
}
