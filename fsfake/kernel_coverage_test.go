//go:build linux

package fsfake_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"lockpick/fsfake"
)

// The coverage of the comparison with the kernel: for every call each errno of its manual
// page has been seen alike on both sides, or is listed as not modelled with the reason.
// Seen means in a kept or scripted sequence (testdata/kernel), so that the table is the
// same wherever it is made; whatever a drawn sequence shows must be in it too.

const coverageDoc = "../docs/kernel-coverage.md"

// reasons say why an errno is not modelled, by call and errno or by errno alone.
var reasons = map[string]string{
	"EBUSY":        "there are no devices and no mounts",
	"EDESTADDRREQ": "there are no sockets",
	"EDQUOT":       "there are no quotas",
	"EFAULT":       "no call here takes an address",
	"EFBIG":        "a file beyond the limit of the model ends the run as not modelled",
	"EINTR":        "on a local file system only lock calls wait, and so only they are interrupted",
	"EIO":          "the disk has no faults",
	"EMLINK":       "the number of links is not limited",
	"ENFILE":       "the system's limit on open files is not modelled",
	"ENODEV":       "there are no devices",
	"ENOLCK":       "locks do not run out",
	"ENOMEM":       "memory does not run out",
	"ENOSPC":       "space does not run out",
	"ENXIO":        "there are no devices and no pipes",
	"EOPNOTSUPP":   "the file system has O_TMPFILE",
	"EOVERFLOW":    "files are smaller than 2 GiB",
	"EPIPE":        "there are no pipes",
	"EROFS":        "the file system is writable",
	"ESPIPE":       "there are no pipes",
	"ETXTBSY":      "no file is executed",
	"EWOULDBLOCK":  "there are no leases, no pipes and no sockets",
	"EXDEV":        "there is one file system",

	"bind EADDRNOTAVAIL":   "every address is a path",
	"bind EINVAL":          "the call makes its socket, which has no name yet",
	"bind ENOTSOCK":        "the call makes its socket",
	"bind ENAMETOOLONG":    "an address has no room for a name that is too long",
	"connect ENAMETOOLONG": "an address has no room for a name that is too long",
	"connect EPROTOTYPE":   "every socket is a stream",
	"listen EADDRINUSE":    "every socket has a name",
	"listen EOPNOTSUPP":    "every socket is a stream",
	"getcwd EACCES":        "the kernel asks for no permission",
	"getcwd EINVAL":        "no call here has a size of a buffer",
	"getcwd ERANGE":        "no call here has a size of a buffer",
	"getcwd ENAMETOOLONG":  "the name of a deeper directory ends the run as not modelled",
	"exec":                 "no program is loaded: execve(2) succeeds",
	"stat EINVAL":          "stat takes no flags",
	"lstat EINVAL":         "lstat takes no flags",
	"rename EIO":           "the disk has no faults",
	"unlink EINVAL":        "unlink takes no flags",
	"linkat EINVAL":        "linkat takes no flags",
	"link EINVAL":          "it has one flag, and another ends the run as not modelled",
	"chmod EINVAL":         "chmod takes no flags",
	"dup2 EMFILE":          "EBADF is what Linux says",
	"dup3 EMFILE":          "EBADF is what Linux says",
	"fcntl-setfl EINVAL":   "O_DIRECT ends the run as not modelled",
	"chown EINVAL":         "chown takes no flags",
	"lchown EINVAL":        "lchown takes no flags",
	"truncate EPERM":       "no file is sealed or immutable",
	"ftruncate EPERM":      "no file is sealed or immutable",
	"write EPERM":          "no file is sealed or immutable",
	"write EINVAL":         "O_DIRECT ends the run as not modelled, and everything can be written to",
	"pwrite EPERM":         "no file is sealed or immutable",
	"read EINVAL":          "O_DIRECT ends the run as not modelled, and everything can be read from",
	"mkdir EINVAL":         "every name is valid",
	"mkdir EPERM":          "the file system has directories",
	"symlink EPERM":        "the file system has symlinks",
	"utimes EINVAL":        "every number of nanoseconds is a valid time",
	"utimes ESRCH":         "it is about /proc",
	"lutimes EINVAL":       "every number of nanoseconds is a valid time",
	"lutimes ESRCH":        "it is about /proc",
	"futimes EINVAL":       "every number of nanoseconds is a valid time",
	"fsync EINVAL":         "there are no special files",
	"readdir EINVAL":       "the buffer is large enough",
	"ofd-setlk EDEADLK":    "the kernel does not look for cycles of OFD locks",
	"kill EINVAL":          "a signal other than 0 would end the process that compares",
	"fork ENOSYS":          "there is fork",
	"fork EWOULDBLOCK":     "processes do not run out",
}

// answered collects what both sides answered alike.
type answered map[answer]int

func (a answered) add(b answered) {
	for k, n := range b { // order does not matter: numbers are added
		a[k] += n
	}
}

// of lists what was seen of a call: success and waiting first, then errnos in order.
func (a answered) of(c fsfake.Call) (other, errnos []string) {
	ok, waits := false, false
	for k := range a { // order does not matter: sorted below
		switch {
		case k.call != c:
		case k.blocked:
			waits = true
		case k.errno == 0:
			ok = true
		default:
			errnos = append(errnos, fsfake.ErrnoName(syscall.Errno(k.errno)))
		}
	}
	if ok {
		other = append(other, "success")
	}
	if waits {
		other = append(other, "waits")
	}
	slices.Sort(errnos)
	return other, errnos
}

// table writes the document.
func (a answered) table() (string, error) {
	var b strings.Builder
	b.WriteString(`# What was compared with the kernel

For each call of package fsfake: what the fake and the Linux kernel were seen to answer alike, in
the sequences of fsfake/testdata/kernel, and each errno of the manual page that is not modelled; the
reasons are below. An errno in italics is one that the manual page does not list. Drawn sequences show the
same answers and no others. Written by

    go test ./fsfake -run TestKernelKept -kernel.write

Not compared: the start time of a process, the clock, sleeping and work, which are the fake's own;
what is in the list of things not modelled, in the documentation of package fsfake.

| call | alike on both sides | not modelled |
|---|---|---|
`)
	used := map[string]bool{}
	var unexplained error
	for _, c := range fsfake.Calls() {
		row := rowOf(c)
		if row.not != "" {
			continue
		}
		other, seen := a.of(c)
		if !slices.Contains(other, "success") {
			unexplained = errors.Join(unexplained, fmt.Errorf("success of %s was not seen on both sides", c))
		}
		listed := strings.Fields(strings.TrimSuffix(row.manual, "none"))
		cells := slices.Clone(other)
		for _, e := range seen {
			if !slices.Contains(listed, e) {
				e = "*" + e + "*"
			}
			cells = append(cells, e)
		}
		missing, err := notModelled(c, listed, seen, used)
		unexplained = errors.Join(unexplained, err)
		fmt.Fprintf(&b, "| %s | %s | %s |\n", c, strings.Join(cells, " "), strings.Join(missing, " "))
	}
	b.WriteString("\n## Why they are not modelled\n\n| errno | reason |\n|---|---|\n")
	for _, k := range slices.Sorted(maps.Keys(reasons)) {
		if !used[k] {
			unexplained = errors.Join(unexplained, fmt.Errorf("the reason for %s is not needed", k))
		}
		fmt.Fprintf(&b, "| %s | %s |\n", k, reasons[k])
	}
	return b.String(), unexplained
}

// notModelled lists the errnos that were not seen, and notes which reasons that needs.
func notModelled(c fsfake.Call, listed, seen []string, used map[string]bool) (missing []string, err error) {
	for _, e := range listed {
		if slices.Contains(seen, e) {
			continue
		}
		missing = append(missing, e)
		found := false
		for _, key := range []string{c.String() + " " + e, c.String(), e} {
			if !found && reasons[key] != "" {
				used[key], found = true, true
			}
		}
		if !found {
			err = errors.Join(err, fmt.Errorf("%s of %s was neither seen on both sides nor is it listed as not modelled", e, c))
		}
	}
	return missing, err
}

// checkCoverage compares the table with the document. When not all calls could be compared
// here, it may fall short of it.
func checkCoverage(t *testing.T, seen answered, all bool) {
	text, err := seen.table()
	if !all && err != nil {
		t.Logf("%s was not compared: on this machine not everything can be seen: %v", coverageDoc, err)
		return
	}
	require.NoError(t, err)
	if *writeFlag {
		require.NoError(t, os.WriteFile(coverageDoc, []byte(text), 0o644))
		return
	}
	have, err := os.ReadFile(coverageDoc)
	require.NoError(t, err)
	if !all && string(have) != text {
		t.Logf("%s was not compared: on this machine not everything can be seen", coverageDoc)
		return
	}
	require.Equal(t, string(have), text, "%s is out of date: go test ./fsfake -run TestKernelKept -kernel.write", coverageDoc)
}

// notInTable lists what was seen in drawn sequences but is not in the document.
func notInTable(t *testing.T, seen answered) []string {
	doc, err := os.ReadFile(coverageDoc)
	require.NoError(t, err)
	var missing []string
	for _, row := range strings.Split(string(doc), "\n") {
		cells := strings.Split(row, "|")
		if len(cells) < 5 {
			continue
		}
		c, ok := callNamed(strings.TrimSpace(cells[1]))
		if !ok {
			continue
		}
		other, errnos := seen.of(c)
		for _, e := range append(other, errnos...) {
			if !slices.Contains(strings.Fields(strings.ReplaceAll(cells[2], "*", "")), e) {
				missing = append(missing, c.String()+" "+e)
			}
		}
	}
	return missing
}
