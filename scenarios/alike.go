package scenarios

// Alike reports whether all processes have the same role as far as the setting says, so that it makes sense to ask for
// one more of them. That they run the same program is not said here: [Setting.Interchangeable] promises it.
func (s *Setting) Alike() bool {
	for _, f := range Fields() {
		for i := 1; f.of != nil && i < s.Processes; i++ {
			if f.of(s, i) != f.of(s, 0) {
				return false
			}
		}
	}
	return !s.Fixed
}
