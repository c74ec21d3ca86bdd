package command

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// LANG=C.UTF-8 says what LC_CTYPE says, unless LANGUAGE has programs look for translations.
func TestLanguageThatSaysNothingIsLeftOut(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ environ, want []string }{
		{[]string{"A=1", "LANG=C.UTF-8", "LC_TIME=de_DE"}, []string{"A=1", "LC_TIME=de_DE"}},
		{[]string{"LANG=C.utf8"}, nil},
		{[]string{"LANG=de_DE.UTF-8", "B=LANG=C.UTF-8"}, []string{"LANG=de_DE.UTF-8", "B=LANG=C.UTF-8"}},
		{[]string{"LANGUAGE=de", "LANG=C.UTF-8"}, []string{"LANGUAGE=de", "LANG=C.UTF-8"}},
	} {
		var s Spec
		s.Inherit(tt.environ)
		require.Equal(t, tt.want, s.env())
	}
}
