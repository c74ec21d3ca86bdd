// Package gofrsflock holds the lock of gofrs/flock, the usual Go wrapper of flock(2).
//
// The first version removed the file after it had unlocked it
// (https://github.com/gofrs/flock/commit/d02ebee63a31c54f56f85f3599d6a746892513e8); the
// file stays since
// https://github.com/gofrs/flock/commit/6d0fcb04d9ce3ac9499754c8d19bcb45b981b8c8. What is
// left is the kernel's: a conversion drops the lock before it takes the other
// (https://github.com/gofrs/flock/issues/15), also when it is refused then.
package gofrsflock
