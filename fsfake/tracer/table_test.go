//go:build linux && amd64

package tracer

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/internal/golden"
)

// What is told of each kind of calls, in the order of docs/system-calls.md.
var told = []struct{ what, text string }{
	{"modelled", "lockpick carries out these calls itself on files below DIR, and on the pids, the clock and the " +
		"signals of the commands. On anything else the kernel makes them. Single flags and " +
		"requests that are not modelled end the run."},
	{"outside", "The kernel makes these calls on anything outside of DIR. On a file below DIR they end the run."},
	{"harmless", "The kernel makes these calls, and lockpick does not look at them. None of them takes a path, an open " +
		"descriptor, memory that processes share, or a time."},
	{"refused", "These calls fail as on a kernel that does not have them or does not permit them, so that a program " +
		"takes its other way. If a command then fails, lockpick says which call it refused. What a command does with " +
		"files after `io_setup`, `io_uring_setup`, `name_to_handle_at` or `open_by_handle_at` was not seen: then " +
		"nothing holds."},
	{"ends the run", "These calls end the run with an error that names the program and the call: there is no verdict."},
}

// Every call of Linux is in docs/system-calls.md, with what is done about it.
func TestSystemCallsPage(t *testing.T) {
	known := map[int]bool{}
	var text strings.Builder
	text.WriteString("# System calls\n\nWhat `lockpick run` does about each system call of a command, on x86-64. " +
		"DIR is the directory that the commands\nshare (`--dir`). " +
		"This page is made from the tracer's table:\n`go test ./fsfake/tracer -run TestSystemCallsPage -update`.\n")
	for _, kind := range told {
		fmt.Fprintf(&text, "\n## %s\n\n%s\n\n", strings.ToUpper(kind.what[:1])+kind.what[1:], kind.text)
		for _, p := range parts() {
			what, about, _ := strings.Cut(p.what, ": ")
			if what != kind.what {
				continue
			}
			var names []string
			for _, s := range p.calls {
				require.False(t, known[s.nr], "%s is in the table twice", s.name)
				known[s.nr] = true
				names = append(names, s.name)
			}
			if about != "" {
				about = "**" + strings.ToUpper(about[:1]) + about[1:] + "**: "
			}
			text.WriteString("- " + about + inCode(names) + "\n")
		}
	}
	require.Len(t, known, len(calls), "a part of the table has a kind that the page does not tell of")
	var others []string
	for nr, name := range linuxCalls(t) {
		if !known[nr] {
			others = append(others, name)
		}
	}
	text.WriteString("- **Not known to lockpick**: " + inCode(others) + ", and any newer one\n")
	golden.CheckFile(t, "../../docs/system-calls.md", text.String())
}

// inCode lists names in order.
func inCode(names []string) string {
	slices.Sort(names)
	return "`" + strings.Join(names, "`, `") + "`"
}

// linuxCalls are the calls that package unix names, by number.
func linuxCalls(t *testing.T) map[int]string {
	p, err := build.Import("golang.org/x/sys/unix", ".", build.FindOnly)
	require.NoError(t, err)
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, "zsysnum_linux_amd64.go"), nil, 0)
	require.NoError(t, err)
	found := map[int]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.ValueSpec); ok {
			nr, err := strconv.Atoi(s.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			name, is := strings.CutPrefix(s.Names[0].Name, "SYS_")
			require.True(t, is)
			found[nr] = strings.ToLower(name)
		}
		return true
	})
	require.Greater(t, len(found), 350)
	return found
}

// A harmless call is never looked at. So none may take a path, an open descriptor, memory that processes share, or a
// time: each argument, as the manual page names it, is one of those that matter to the caller alone.
func TestHarmlessCallsTakeNothingShared(t *testing.T) {
	private := strings.Fields("addr len old new prot flags set oldset size advice vec pkey rights result pipefd count " +
		"domain type protocol sv label buf resource rlim list uid euid suid gid egid sgid ss code policy cpu node cache " +
		"head rseq sig cmd clock res")
	arguments := map[string]string{
		"munmap": "addr len", "brk": "addr",
		"msync": "addr len flags", "mincore": "addr len vec", "madvise": "addr len advice", "mlock": "addr len",
		"mlock2": "addr len flags", "munlock": "addr len",
		"pkey_alloc": "flags rights", "pkey_free": "pkey",
		"rt_sigprocmask": "flags set oldset size", "rt_sigreturn": "", "rt_sigpending": "set size",
		"sigaltstack": "ss old",
		"pipe":        "pipefd", "pipe2": "pipefd flags", "eventfd": "count", "eventfd2": "count flags",
		"epoll_create": "size", "epoll_create1": "flags", "inotify_init": "", "inotify_init1": "flags",
		"memfd_create": "label flags", "socket": "domain type protocol", "socketpair": "domain type protocol sv",
		"uname": "buf", "getrlimit": "resource rlim", "getuid": "", "getgid": "", "geteuid": "", "getegid": "",
		"getgroups": "size list", "getresuid": "uid euid suid", "getresgid": "gid egid sgid", "arch_prctl": "code addr",
		"sched_get_priority_max": "policy", "sched_get_priority_min": "policy", "getcpu": "cpu node cache",
		"set_robust_list": "head len", "membarrier": "cmd flags cpu",
		"clock_getres": "clock res", // how fine a clock is, and not what it shows
	}
	seen := 0
	for _, s := range calls {
		if s.do != nil {
			continue
		}
		seen++
		args, listed := arguments[s.name]
		require.True(t, listed, "%s is let through unseen: list its arguments here, or handle it", s.name)
		require.Len(t, strings.Fields(args), s.args, s.name)
		for _, arg := range strings.Fields(args) {
			require.Contains(t, private, arg, "%s takes what others see", s.name)
		}
	}
	require.Equal(t, len(harmless), seen, "only harmless calls are let through")
	require.Len(t, arguments, seen)
}
