//go:build !unix

package runs

import "os"

// acquire does nothing where there is no flock(2): it is up to people then.
func acquire(*os.File) error { return nil }
