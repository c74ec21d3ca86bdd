package command

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/scenarios"
)

// What a shim would execute is what pyenv, rbenv and asdf document: a variable, the nearest file, the one for all.
func TestThroughShims(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o755))
	}
	dir := func(name string) string { return filepath.Join(root, name) }
	write("pyenv/shims/python3",
		"#!/usr/bin/env bash\nset -e\nexec \""+dir("pyenv/libexec/pyenv")+"\" exec \"$program\" \"$@\"\n")
	write("asdf/shims/ruby", "#!/usr/bin/env bash\n# asdf-plugin: ruby 3.3.0\nexec asdf exec \"ruby\" \"$@\"\n")
	write("other/shims/x", "#!/bin/sh\nexec y\n")
	write("pyenv/version", "3.11.7 # for all\n")
	write("two/.python-version", "3.10.1\n2.7.18\n")
	write("system/.python-version", "system\n")
	write("asdf-project/.tool-versions", "# tools\nruby 3.3.0\nnodejs 20\n")
	for _, b := range []string{"pyenv/versions/3.11.7/bin", "pyenv/versions/3.10.1/bin", "pyenv/versions/2.7.18/bin",
		"asdf/installs/ruby/3.3.0/bin"} {
		require.NoError(t, os.MkdirAll(dir(b), 0o755))
	}
	for _, tt := range []struct {
		name, in, shims string
		env             []string
		want            []string
	}{
		{"the version for all", "", "pyenv/shims", nil, []string{"pyenv/versions/3.11.7/bin"}},
		{"the nearest file, several versions", "two/below", "pyenv/shims", nil,
			[]string{"pyenv/versions/3.10.1/bin", "pyenv/versions/2.7.18/bin"}},
		{"a variable", "two", "pyenv/shims", []string{"PYENV_VERSION=2.7.18"}, []string{"pyenv/versions/2.7.18/bin"}},
		{"system is left to the shim", "system", "pyenv/shims", nil, nil},
		{"a version that is not there", "", "pyenv/shims", []string{"PYENV_VERSION=3.11"}, nil},
		{"asdf", "asdf-project", "asdf/shims", nil, []string{"asdf/installs/ruby/3.3.0/bin"}},
		{"no shims that are known", "", "other/shims", nil, nil},
	} {
		var want []string
		path := "/bin:"
		for _, w := range tt.want {
			want = append(want, dir(w))
			path += dir(w) + ":"
		}
		got, direct := throughShims(append(tt.env, "PATH=/bin:"+dir(tt.shims)+":/usr/bin"), dir(tt.in))
		require.Equal(t, want, direct, tt.name)
		require.Equal(t, path+dir(tt.shims)+":/usr/bin", got, tt.name)
	}
}

// Who runs the commands hears of it where such a program has run.
func TestShimsArePassedOver(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	bin, shims := filepath.Join(root, "versions", "1", "bin"), filepath.Join(root, "shims")
	require.NoError(t, os.MkdirAll(bin, 0o755))
	require.NoError(t, os.MkdirAll(shims, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(shims, "ruby"),
		[]byte("exec \"/usr/bin/rbenv\" exec \"$program\"\n"), 0o755))
	s := Spec{Dir: "/data", Commands: []Line{{Shell: "true"}}, record: newRecord()}
	s.Inherit([]string{"PATH=" + shims + ":/usr/bin:/bin", "RBENV_VERSION=1"})
	require.Contains(t, s.env(), "PATH="+bin+":"+shims+":/usr/bin:/bin")
	require.Empty(t, s.assumesShims())
	s.record.programsRun[filepath.Join(bin, "ruby")] = true
	require.Equal(t,
		[]string{"shims in PATH are passed over, and the programs that they choose run at once: those in " + bin},
		scenarios.Texts(s.assumesShims()))
}
