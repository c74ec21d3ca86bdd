package anynumber

import (
	"testing"

	"lockpick/internal/testmain"
)

func TestMain(m *testing.M) { testmain.Run(m) }
