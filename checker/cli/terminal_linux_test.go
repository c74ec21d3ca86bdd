package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"golang.org/x/sys/unix"
	"lockpick/checker/internal/fixtures"

	"lockpick/checker/internal/toys"
	"lockpick/internal/testmain"
)

// terminal opens a pseudo-terminal that is so many columns wide. What is written to it can
// be read with screen, after which it is closed.
func terminal(t *testing.T, columns int) (tty *os.File, screen func() string) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("SKIPPED: it needs a pseudo-terminal; where there are some go test ./checker/cli runs it: %v", err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	tty, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("SKIPPED: it needs a pseudo-terminal; where there are some go test ./checker/cli runs it: %v", err)
	}
	require.NoError(t, unix.IoctlSetWinsize(int(tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: uint16(columns)}))
	read := make(chan string)
	go func() {
		text, _ := io.ReadAll(master) // ends with an error when the other side is closed
		read <- string(text)
	}()
	return tty, func() string {
		require.NoError(t, tty.Close())
		text := <-read
		require.NoError(t, master.Close())
		return text
	}
}

// On a terminal of any width, what went on is shown on one line, which fits, and of which
// nothing is left; lines of output fit as well.
func TestProgressFitsAndGoes(t *testing.T) {
	for _, columns := range []int{60, 20, 80, 120, 200}[:testmain.Many(1, 5, 5)] {
		for _, noColor := range []string{"", "1"} {
			t.Run(fmt.Sprintf("%d%s", columns, noColor), func(t *testing.T) {
				tty, screen := terminal(t, columns)
				env := func(name string) string { return map[string]string{"NO_COLOR": noColor}[name] }
				exit := Run(t.Context(), toys.All(), []string{"check", "toy/look", "toy/excl", "toy/lease"}, tty, tty, env)
				text := screen()
				require.Equal(t, ExitAsClaimed, exit)
				require.Contains(t, text, "\r\x1b[K[1/")
				for _, shown := range strings.Split(text, "\r\x1b[K")[1:] {
					line, _, _ := strings.Cut(shown, "\r")
					if strings.HasPrefix(line, "[") {
						require.Less(t, utf8.RuneCountInString(line), columns, line)
					}
				}
				left := erased(text)
				require.NotContains(t, left, "[1/", "rubbish is left")
				require.Contains(t, left, "all as claimed")
				require.Equal(t, noColor == "", strings.Contains(left, "\x1b["))
				if columns >= 60 {
					for _, line := range strings.Split(plainText(left), "\n") {
						require.LessOrEqual(t, utf8.RuneCountInString(line), columns, line)
					}
				}
			})
		}
	}
}

// An interrupt takes the line away at once, also when the work goes on for a while.
func TestProgressEndsWithAnInterrupt(t *testing.T) {
	tty, screen := terminal(t, 80)
	ctx, cancel := context.WithCancel(context.Background())
	a := &app{stderr: tty, env: func(string) string { return "" }}
	bar := a.newProgress(ctx, 2, false)
	bar.begin("a/b/c", "wedge")
	cancel()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		bar.mu.Lock()
		ended := bar.ended
		bar.mu.Unlock()
		if ended {
			break
		}
	}
	bar.begin("a/b/d", "wedge")
	require.Equal(t, "\r\x1b[K[1/2] a/b/c wedge\r\x1b[K", screen())
}

// On a terminal explain says what the real kernel answers, unasked; not in a pipe, and not
// where one says no.
func TestExplainAsksTheKernelOnATerminal(t *testing.T) {
	fixtures.OnlyAnswers(t)
	env := func(string) string { return "" }
	for _, c := range []struct {
		flags []string
		asked bool
	}{{nil, true}, {[]string{"--real=false"}, false}} {
		tty, screen := terminal(t, 100)
		exit := Run(t.Context(), toys.All(), append([]string{"explain", "toy/look/contend"}, c.flags...), tty, tty, env)
		text := plainText(erased(screen()))
		require.Equal(t, ExitAsClaimed, exit)
		require.Equal(t, c.asked, strings.Contains(text, "on this kernel too"), text)
	}
	var piped strings.Builder
	require.Equal(t, ExitAsClaimed, Run(t.Context(), toys.All(), []string{"explain", "toy/look/contend"}, &piped, io.Discard, env))
	require.NotContains(t, piped.String(), "this kernel")
}

// On a terminal run says of what is broken that repairs can be tried.
func TestRunTellsOfRepairsOnATerminal(t *testing.T) {
	testmain.Slow(t, "it runs real programs", "./checker/cli")
	raceFile(t)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "n"), []byte("0\n"), 0o644))
	for _, c := range []struct {
		command string
		told    bool
	}{{"read x <n; echo $((x+1)) >n", true}, {"read x <n", false}} {
		tty, screen := terminal(t, 100)
		Run(t.Context(), toys.All(), []string{"run", "--dir", dir, "--native", "off", "--property", "serializable",
			c.command}, io.Discard, tty, func(string) string { return "" })
		require.Equal(t, c.told, strings.Contains(screen(), "--repair tries locks"), c.command)
	}
}

// Verdicts that hold stand above the line as soon as they are known, and go with it: the report has them at its end.
func TestProgressShowsWhatHolds(t *testing.T) {
	tty, screen := terminal(t, 30)
	a := &app{stderr: tty, env: func(string) string { return "" }}
	bar := a.newProgress(t.Context(), 1, false)
	a.early.keep("run/commands/2  HOLDS  serializable\n")
	bar.begin("a/b/c", "wedge")
	bar.begin("a/b/c", "atomic")
	a.early.keep("x  HOLDS  wedge\n")
	bar.begin("a/b/c", "durable")
	bar.clear()
	const away, up = "\r\x1b[K", "\r\x1b[K\x1b[A"
	held := "run/commands/2  HOLDS  seria…\r\n"
	require.Equal(t, away+held+"a/b/c wedge"+away+"a/b/c atomic"+up+away+
		held+"x  HOLDS  wedge\r\na/b/c durable"+up+up+away, screen())
}

// Notes come on a line of their own.
func TestNoteTakesProgressAway(t *testing.T) {
	tty, screen := terminal(t, 80)
	a := &app{stderr: tty, env: func(string) string { return "" }, name: "lockpick"}
	bar := a.newProgress(t.Context(), 2, false)
	bar.begin("a/b/c", "wedge")
	a.note("something")
	require.Equal(t, "\r\x1b[K[1/2] a/b/c wedge\r\x1b[Klockpick: something\r\n", screen())
}

// erased is what is left on a screen after every erasure of a line.
func erased(text string) string {
	var lines []string
	for _, line := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		if i := strings.LastIndex(line, "\r\x1b[K"); i >= 0 {
			line = line[i+len("\r\x1b[K"):]
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// plainText is a text without its colours.
func plainText(text string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "\x1b[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		_, text, _ = strings.Cut(after, "m")
	}
}
