package cli

import (
	"testing"

	"lockpick/checker/internal/toys"
	"lockpick/checker/real"
	"lockpick/internal/testmain"
)

func TestMain(m *testing.M) {
	real.Worker(toys.All()) // for what is carried out on the real kernel
	testmain.Run(m)
}
