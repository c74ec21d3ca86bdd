// Package anynumber proves that a protocol holds for every number of equal processes, and any number of kills, by view
// abstraction (Abdulla, Haziza, Holík, All for the Price of Few, VMCAI 2013).
//
// A view is what k processes can reach: the files that they can name or have open, their places in their program,
// and of every other process only whether it lives, if something in the view names it, and its kernel locks on files
// of the view. The search starts with the views of the start. It takes every configuration of k+1 processes all of
// whose views are known, lets each process make its next call on [fsfake.Machine], and adds the views of what comes
// of it. When nothing is new, no number of processes reaches a view that is not known: a call depends on the caller
// and on what its view has. If no such configuration is bad, the property holds for any number. A bad one proves
// nothing, since perhaps no run leads to it.
//
// Most calls look and change nothing. Nobody else can tell such a step, so where views have one process it is made
// in the view alone (step.go). Programs are told no sizes and link counts, and views show no names with the pids of
// others, until a program looks at a size or says such a name.
//
// It is sound because each rule by which something comes into a view asks for one thing only, so that the view
// of k+1 processes is the union of the views of k of them; because configurations are made of views in every way in
// which processes and files may be the same; and because what is made is projected back and compared. What a view
// does not have is refused: shared locks, several record locks on a file, several tasks, time that passes, listings
// beside names with pids, files that grow. Inode numbers that come back are tried whenever they may.
//
// The program is learned once, as process 101. A proof is believed only after each edge was run again under
// other pids, and with other file times and inode numbers (shown.go).
//
// The package knows machines and learned programs. It must not know how verdicts are concluded or reported. It asks
// no property of histories, and neither deadlock, wedge nor starvation.
package anynumber
