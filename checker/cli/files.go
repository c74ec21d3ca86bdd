package cli

import (
	"io"
	"os"
	"slices"

	"lockpick/checker"
	"lockpick/checker/report"
)

// fileFormats are the formats of check that go to files, for other programs to read or
// for people to paste.
func fileFormats() []format {
	return []format{
		toFile("markdown", "write Markdown for an issue or a pull request", report.Markdown),
		toFile("junit", "write JUnit XML", timedJUnit),
		toFile("sarif", "write SARIF 2.1.0", report.SARIF),
	}
}

func toFile(flag, usage string, write func(io.Writer, []checker.Result, report.Options) error) format {
	return format{
		flag: flag, usage: usage, arg: "FILE",
		write: func(stdout io.Writer, to string, rs []checker.Result, o report.Options) error {
			if to == toStdout {
				return write(stdout, rs, o)
			}
			return writeFile(to, func(w io.Writer) error { return write(w, rs, o) })
		},
	}
}

// timedJUnit writes JUnit with the time that each verdict took, where it was measured:
// whoever reads it asks for that, and nobody compares two such files byte by byte.
func timedJUnit(w io.Writer, results []checker.Result, o report.Options) error {
	o.Timings = slices.ContainsFunc(results, func(r checker.Result) bool { return r.Elapsed > 0 })
	return report.JUnit(w, results, o)
}

// writeFile makes a file of what write writes. The error of the close counts: a full
// disk may show there.
func writeFile(name string, write func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	err = write(f)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
