// Package edit changes what protocols in Go do, call by call and without their source: a call is left out, made
// later or made in another way between the program and the machine. A call is told from others by where its program
// makes it (its [Site]), so that every process and every round of a loop is changed alike.
//
// It knows programs and calls. It must not know how a scenario is decided: that is package lockpick/checker/edits.
//
// Limits: programs that are no Go functions have no sites. A changed program goes on with the answer that it is
// given, so an edit must give one that some code would go on with; where there is none, [Edit.Doubt] says so.
package edit
