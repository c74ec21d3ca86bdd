package command

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Words in quotes need no shell; what a shell would do more with is left to one.
func TestPlainWords(t *testing.T) {
	for text, want := range map[string][]string{
		`python3 -c 'import os
os.mkdir("a b")' "x y"z ''`: {"python3", "-c", "import os\nos.mkdir(\"a b\")", "x yz", ""},
		` a  b `:              {"a", "b"},
		`sh -c 'echo $x > n'`: {"sh", "-c", "echo $x > n"},
		`npm pkg set a=1 =b`:  {"npm", "pkg", "set", "a=1", "=b"},
	} {
		words, ok := plainWords(text)
		require.True(t, ok, text)
		require.Equal(t, want, words)
	}
	for _, text := range []string{``, ` `, `a $x`, `a "$x"`, "a \"`b`\"", `a "b\n"`, `a 'b`, `a b"`, `a > b`,
		"a\nb", `x=1 a`, `x=1`, ` x= a`,
		`a *`, `a ~`, `a #b`, `'a b' c`, `a {b,c}`} {
		_, ok := plainWords(text)
		require.False(t, ok, text)
	}
}
