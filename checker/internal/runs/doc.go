// Package runs keeps sets of rows on disk: sorted, each row once, in files that are written once
// and read in order. It is for spaces that memory has no room for.
//
// A row is some words of 32 bits, and rows are in the order of their words. With each row goes one
// more word, its depth, which does not count for the order. Rows of a run share what they have in
// common with the row before, so that a row of eight words takes some eight bytes.
//
// What belongs together lies in a [Folder], which bounds what it takes. A run is written under
// another name and gets its own when it is complete and on the disk: a run that can be opened is
// whole. Each block has a checksum, so a file that was changed or cut is an error, and no row.
//
// The package knows nothing of states or machines. It is for one goroutine at a time, and a folder
// for one process.
package runs
