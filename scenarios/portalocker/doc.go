// Package portalocker holds the locks of wolph/portalocker (Python): a file that is
// removed after, or while, it is locked, and a pid file beside it.
//
// The race was reported in https://github.com/wolph/portalocker/issues/115 and is fixed in
// 4.0.0, by a look at the name after the lock was taken together with a removal before
// the lock is given back. Either half alone is broken.
package portalocker
