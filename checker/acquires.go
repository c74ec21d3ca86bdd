package checker

import "lockpick/model"

// isAcquire reports whether an operation acquires a lock.
func isAcquire(input any) bool {
	switch input.(type) {
	case model.Acquire, model.RAcquire, model.WAcquire:
		return true
	}
	return false
}
