package scenarios

// A Source is a place in a program's source: where a call is made. The zero value says that
// it is not known.
type Source struct {
	// File is the file as the compiler recorded it: an absolute path, or with -trimpath one
	// that begins with the path of its module.
	File string
	Line int
	// Func is the function, with the last part of its package's path: "pidlock.Acquire".
	Func string
}

// At is noted before a call whose place the program knows better than its stack does. A task
// that stands for a program in another language notes where that one is.
type At struct{ Source Source }

// Remembers is noted by a program that can say what it remembers while it waits for an answer: the same text twice
// means that it goes on alike after the same answers. The text is empty when that is not known. It is no part of
// what a program does.
//
// State is the same of all that the program hangs on: two runs with one text go on alike.
type Remembers struct{ Memory, State func() string }
