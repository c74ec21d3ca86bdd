package cli

import (
	"io"

	"lockpick/checker"
	"lockpick/checker/report"
	"lockpick/checker/report/site"
)

// htmlFormat writes a static web site.
func htmlFormat() format {
	return format{
		flag: "html", arg: "DIR", usage: "write a static web site",
		write: func(_ io.Writer, dir string, rs []checker.Result, o report.Options) error {
			return site.Write(dir, rs, site.Options{Flags: o.Flags, Program: o.Program, Root: o.Root, Replay: o.Replay, Made: o.Made})
		},
	}
}
