// Package parallel does work side by side. It is the only place of the checker with a go
// statement, and knows nothing of what the work is.
package parallel
