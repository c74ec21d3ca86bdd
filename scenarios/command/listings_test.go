package command

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
)

// Each path has a repeated listing with all names and one with none, the first one each name alone, too, and the others
// one in turn. With too many names none is repeated.
func TestRepeatedListings(t *testing.T) {
	all := func(names []string, n int) (has []string) {
		for _, rise := range []bool{true, false} {
			for _, l := range (&Spec{}).repeated(names, n, rise) {
				if l == nil {
					return nil
				}
				has = append(has, strings.Join(l.there, ""))
			}
		}
		return has
	}
	names := strings.Split("abc", "")
	require.Equal(t, []string{"abc", "a", "b", "c", ""}, all(names, 1))
	require.Equal(t, []string{"abc", "", "c"}, all(names, 2))
	require.Equal(t, []string{"abc", "", "a"}, all(names, 3))
	require.Nil(t, all(strings.Split("abcdefghi", ""), 1))

	l := listings{names: []string{"b", "d"}, there: []string{"b"}}
	r := l.list(fsfake.Result{Data: "a\x00c\x00d", N: 3, Value: "1 2 3 4 5"})
	require.Equal(t, fsfake.Result{Data: "a\x00b\x00c", N: 3, Value: "1 2 3 1048576 4"}, r)
}
