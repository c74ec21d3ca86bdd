// Package blocks makes schedules smaller. A schedule is blocks of equal choices: whoever polls has one of
// thousands. The package yields smaller schedules to try, the boldest first, and knows nothing of what a
// schedule is to break, of machines or of properties: package search runs what is yielded, and keeps it
// where it breaks the property for less.
package blocks
