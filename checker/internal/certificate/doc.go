// Package certificate checks proofs for any number of equal processes that were written to a file, without the code
// that finds them.
//
// A certificate is a header, the edges of the program, and a set of views, one a line, and the SHA-256 of these lines.
// A view is what one process can reach: files, its descriptors, its place in the program, and of other processes
// whether they live and what they have locked. docs/holds.md draws one. [File.Verify] looks whether
//
//  1. the program does along each edge what the edge says, also under other pids, where files have other numbers and
//     times that differ by nanoseconds, and when each round of a retry loop is made ten times more;
//  2. the views of the start are in the set;
//  3. every step of every configuration of two processes, of which both views are in the set, leads to views that
//     are in the set;
//  4. no view and no such configuration is bad.
//
// Then every state of every number of processes has its views in the set, and none is bad. For a step depends on who
// makes it and on what that process can reach. What another process sees of it depends on what both can reach.
//
// A step that changes only the process itself is made in its view alone, because all other views stay as they are.
// All else is as simple as it can be: configurations are made by taking each file and each process of one view for
// each like it of the other, or for a new one, and are kept if their views are the two that they were made of.
//
// Trusted are package fsfake, the program's promise that it is a function of the answers to its calls and that rounds
// of its loops carry nothing over, and this package. It must not know how a proof is found: it imports no package of
// the checker. It has views of one process, and refuses what views do not have.
package certificate
