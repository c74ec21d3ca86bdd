package scenarios

// What External programs are like, one trait each: whoever asks says what matters to it.

// Expensive reports whether each run of a program starts somebody else's: few are made, what they show is kept, and
// nothing is tried that takes thousands of them.
func (s *Scenario) Expensive() bool { return s.External }

// AssumesOneCase reports whether what file systems and clocks do differently is not decided case by case where programs
// look at it: one case is decided, and the verdict says what it assumes.
func (s *Scenario) AssumesOneCase() bool { return s.External }

// OfCommands reports whether the programs are commands that somebody has typed. Reports name them so, fold the calls
// that concern nobody else, and tell what to do about a kind of mistake; a broken one is a failure without any claim.
func (s *Scenario) OfCommands() bool { return s.External }
