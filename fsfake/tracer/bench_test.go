//go:build linux && amd64

package tracer_test

import "testing"

// BenchmarkRun is a whole run of a program alone against a machine.
func BenchmarkRun(b *testing.B) {
	for _, c := range []struct {
		name string
		argv []string
	}{
		{"mkdir", []string{"mkdir", "d"}},
		{"sh", []string{"sh", "-c", "echo 1 > n; read x < n"}},
		{"node", []string{"node", "-e", "require('fs').mkdirSync('d')"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			need(b, c.argv[0])
			for b.Loop() {
				alone(b, newMachine(), config(c.argv...))
			}
		})
	}
	b.Run("python", func(b *testing.B) {
		argv := []string{python(b, "")[0], "-c", "import os; os.mkdir('d')"}
		for b.Loop() {
			alone(b, newMachine(), config(argv...))
		}
	})
}
