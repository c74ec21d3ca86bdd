package scenarios

// A Hazard is what may befall a lock: the question that one line of a survey and one
// column of the reference answer.
type Hazard struct {
	// ID names the hazard in flags and reports: lower-case words joined by hyphens.
	ID string
	// Meaning is one sentence that says what may happen.
	Meaning string
}

// The ids of hazards.
const (
	HazardContention   = "contention"
	HazardThreads      = "threads"
	HazardDeadOwner    = "dead-owner"
	HazardCrash        = "crash"
	HazardExit         = "exit"
	HazardStall        = "stall"
	HazardClock        = "clock"
	HazardPidReuse     = "pid-reuse"
	HazardPidNamespace = "pid-namespace"
	HazardHostName     = "host-name"
	HazardPowerLoss    = "power-loss"
	HazardFileSystem   = "file-system"
	HazardFailingCall  = "failing-call"
	HazardSignal       = "signal"
)

// Hazards lists all hazards, in the order of reports.
func Hazards() []Hazard {
	return []Hazard{
		{HazardContention, "Two or more processes want the lock at once."},
		{HazardThreads, "Two threads or tasks of one process want the lock at once."},
		{HazardDeadOwner, "The lock of a process that is dead lies there at the start."},
		{HazardCrash, "A process is killed (SIGKILL) at any step."},
		{HazardExit, "A process ends in an orderly way, and its pid is dead from then on."},
		{HazardStall, "A process stands still for longer than every age rule allows, and then goes on."},
		{HazardClock, "Hosts that share the directory have clocks that are apart, or a clock is set back."},
		{HazardPidReuse, "The pid of a dead owner belongs to an unrelated process today."},
		{HazardPidNamespace, "Two owners have one pid, or a living owner's pid looks dead, because each counts its own, or may not ask."},
		{HazardHostName, "Two hosts share the directory, or the host has another name today."},
		{HazardPowerLoss, "The power is lost, and the disk keeps what was synced and a part of the rest."},
		{HazardFileSystem, "The file system is not the one that the protocol was tried on."},
		{HazardFailingCall, "A call fails that nothing stands in the way of: the disk is full, the medium is bad, a signal was caught."},
		{HazardSignal, "A process gets a signal that it handles (SIGINT, SIGTERM, SIGALRM), at any step."},
	}
}

// An Entry says where a scenario stands in a catalogue of lock protocols. All of it may
// be empty.
type Entry struct {
	// Shape is the id of the family that the protocol belongs to.
	Shape string
	// Hazard is the id of the hazard that the setting is about; see [Scenario.Hazard].
	Hazard string
	// Projects are the programs and libraries that have the protocol, "owner/name" where
	// they have a repository, and those known to use them.
	Projects []string
}

// Hazard returns the id of the hazard that the scenario is about: the one of its Entry, or
// else what its setting shows.
func (s *Scenario) Hazard() string {
	switch st := &s.Setting; {
	case s.Entry.Hazard != "":
		return s.Entry.Hazard
	case st.PowerLosses > 0:
		return HazardPowerLoss
	case st.FailingCalls > 0:
		return HazardFailingCall
	case st.Signals > 0:
		return HazardSignal
	case st.SetsBack() || st.Skew != nil:
		return HazardClock
	case st.Stalls > 0:
		return HazardStall
	case st.Crashes > 0:
		return HazardCrash
	case st.Contenders() > st.Processes:
		return HazardThreads
	}
	return HazardContention
}
