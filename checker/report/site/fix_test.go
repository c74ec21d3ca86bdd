package site

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A page of what is broken leads to the variant of its system that holds, and shows what is
// different; a page of what holds leads nowhere.
func TestFix(t *testing.T) {
	for _, sys := range bySystem(results(t)) {
		for _, w := range sys.Rows {
			f := newFix(sys, w)
			switch w.Scenario.ID {
			case "toy/look/contend":
				require.NotNil(t, f)
				require.Equal(t, "mutual-exclusion", f.Property)
				require.Equal(t, "excl/contend", f.Name)
				require.Equal(t, "toy.excl.contend.html", f.Link)
			case "toy/excl/contend":
				require.Nil(t, f)
			}
		}
	}
}

// Nothing of either source is lost, and what is not marked is the same on both sides.
