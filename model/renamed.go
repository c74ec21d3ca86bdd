package model

// Renamed returns an input or output with its owner's name replaced. The
// specifications of this package treat owners alike: a history is as good as the same
// history under other names.
func Renamed(v any, owner func(string) string) any {
	switch v := v.(type) {
	case Acquire:
		return Acquire{owner(v.Owner)}
	case Release:
		return Release{owner(v.Owner)}
	case Crash:
		return Crash{owner(v.Owner)}
	case Holder:
		return Holder{owner(v.Owner)}
	case RAcquire:
		return RAcquire{owner(v.Owner)}
	case WAcquire:
		return WAcquire{owner(v.Owner)}
	case RRelease:
		return RRelease{owner(v.Owner)}
	case WRelease:
		return WRelease{owner(v.Owner)}
	case Grant:
		return Grant{owner(v.Owner)}
	}
	return v
}
