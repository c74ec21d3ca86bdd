//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package osfs

import "errors"

func flock(int, int) error { return errors.ErrUnsupported }

func exists(int) error { return errors.ErrUnsupported }
