// Package outcome compares what a run leaves behind with what serial runs leave behind: runs in which
// one process after the other goes from its start to its end. It is what the property serializable
// comes down to, of commands and of Go functions alike.
//
// It knows machines at the end of runs. It must not know how a run is made, nor what a program is.
package outcome
