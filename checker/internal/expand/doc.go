// Package expand expands states that travel between processes: each is the choices that lead there,
// and a key that names it by its contents. It keeps nothing of a state but where it was last, so
// that any process that runs the same program can expand any state.
//
// It knows how one state is expanded from package search, and nothing of who distributes states.
package expand
