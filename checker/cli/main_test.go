package cli

import (
	"os"
	"testing"

	"lockpick/checker/real"
	"lockpick/internal/testmain"
)

func TestMain(m *testing.M) {
	os.Setenv(nativeBudget, "off") // tests that ask for it say so
	real.Worker()                  // for what is carried out on the real kernel
	testmain.Run(m)
}
