// Package impure finds in the source of protocols what makes a program no function of the answers
// that the fake machine gives it: the real clock, lots that are drawn, the order of a map, the
// real disk, goroutines, and Go variables that processes would share.
//
// The engines notice such programs while they explore them, by running them again, and then give no
// verdict (see package checker); what happens once in ten thousand runs they may miss. [Analyzer]
// reads the source, says which line it is and what to use instead:
//
//	go install lockpick/cmd/lockpick-vet
//	go vet -vettool=$(which lockpick-vet) ./...
//
// It looks at functions that have a *scenarios.Task, an *fsfake.Proc or an *fsfake.Machine as a
// parameter, as a receiver or in a field of the receiver, at the function literals in them, and at what they
// call: in the same package line by line, in others by what those packages export as facts.
//
// Its limits: calls through interfaces and function values are not followed, and what the standard
// library does inside is not looked at, only its functions that are known to differ from run to run. It knows the
// names of lockpick's packages and types, and must not import them: it runs over source, with nothing but
// go/analysis.
package impure
