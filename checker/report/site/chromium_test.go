package site

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/internal/race"
)

// A tab is a page of a headless Chromium, driven by the DevTools protocol over a pair of
// pipes: no port, no server, no driver program.
type tab struct {
	t        *testing.T
	in       *os.File
	messages chan message
	session  string
	id       int
	// problems are what the page complained about: console errors, exceptions, refused
	// resources.
	problems []string
}

type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// patience is how long a browser may take to answer on a busy machine.
const patience = 60 * time.Second

// openTab starts a browser, or skips the test where there is none, or where starting it takes longer
// than all other tests of pages.
func openTab(t *testing.T) *tab {
	t.Helper()
	if testing.Short() || race.Detector {
		t.Skip("SKIPPED with -short, and under the race detector, which sees nothing of a browser: starting one takes seconds; go test ./checker/report/site runs it")
	}
	var path string
	for _, name := range []string{os.Getenv("LOCKPICK_CHROMIUM"), "chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil && name != "" {
			path = p
			break
		}
	}
	if path == "" {
		t.Skip("NO BROWSER: this test drives a real Chromium. On Debian: apt-get install chromium. Elsewhere: install Chrome or Chromium and set LOCKPICK_CHROMIUM to its path.")
	}
	toBrowser, in, err := os.Pipe()
	require.NoError(t, err)
	out, fromBrowser, err := os.Pipe()
	require.NoError(t, err)
	cmd := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
		"--hide-scrollbars", "--user-data-dir="+t.TempDir(), "--remote-debugging-pipe", "about:blank")
	cmd.ExtraFiles = []*os.File{toBrowser, fromBrowser}
	require.NoError(t, cmd.Start())
	_, _ = toBrowser.Close(), fromBrowser.Close()
	b := &tab{t: t, in: in, messages: make(chan message, 1000)}
	go b.listen(out)
	t.Cleanup(func() {
		_ = in.Close() // the browser ends with its pipe
		done := make(chan struct{})
		go func() { _ = cmd.Wait(); close(done) }()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			_ = cmd.Process.Kill()
			<-done
		}
		_ = out.Close()
	})
	var target struct{ TargetID, SessionID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &target)
	b.session = target.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

// listen reads what the browser says: JSON, each message ended by a NUL.
func (b *tab) listen(out *os.File) {
	defer close(b.messages)
	r := bufio.NewReader(out)
	for {
		text, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(text[:len(text)-1], &m) == nil {
			b.messages <- m
		}
	}
}

// call sends a command and waits for its answer.
func (b *tab) call(method string, params map[string]any, result any) {
	b.t.Helper()
	b.id++
	cmd := map[string]any{"id": b.id, "method": method}
	if params != nil {
		cmd["params"] = params
	}
	if b.session != "" {
		cmd["sessionId"] = b.session
	}
	text, err := json.Marshal(cmd)
	require.NoError(b.t, err)
	_, err = b.in.Write(append(text, 0))
	require.NoError(b.t, err)
	m := b.await(func(m message) bool { return m.ID == b.id }, method)
	if m.Error != nil {
		require.Fail(b.t, method, m.Error.Message)
	}
	if result != nil {
		require.NoError(b.t, json.Unmarshal(m.Result, result))
	}
}

// await reads messages until the one wanted, and notes problems on the way.
func (b *tab) await(want func(message) bool, what string) message {
	b.t.Helper()
	limit := time.After(patience)
	for {
		select {
		case m, ok := <-b.messages:
			require.True(b.t, ok, "the browser ended during %s", what)
			b.note(m)
			if want(m) {
				return m
			}
		case <-limit:
			require.Fail(b.t, "the browser does not answer", what)
		}
	}
}

func (b *tab) note(m message) {
	var p struct {
		Type  string
		Entry struct{ Level, Text, URL string }
	}
	_ = json.Unmarshal(m.Params, &p)
	switch {
	case m.Method == "Runtime.exceptionThrown",
		m.Method == "Runtime.consoleAPICalled" && (p.Type == "error" || p.Type == "warning"),
		m.Method == "Log.entryAdded" && p.Entry.Level != "info" && p.Entry.Level != "verbose":
		b.problems = append(b.problems, string(m.Params))
	}
}

// open goes to a page and waits until it has loaded.
func (b *tab) open(url string) {
	b.t.Helper()
	if strings.Contains(url, "#") { // on the same page, that would only scroll
		b.open("about:blank")
	}
	b.call("Page.navigate", map[string]any{"url": url}, nil)
	b.await(func(m message) bool { return m.Method == "Page.loadEventFired" }, url)
}

// eval evaluates an expression on the page into a value.
func (b *tab) eval(expression string, to any) {
	b.t.Helper()
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &r)
	require.Empty(b.t, string(r.ExceptionDetails), expression)
	if to != nil {
		require.NoError(b.t, json.Unmarshal(r.Result.Value, to), expression)
	}
}

func (b *tab) text(expression string) (s string) {
	b.t.Helper()
	b.eval(expression, &s)
	return s
}

func (b *tab) number(expression string) (n int) {
	b.t.Helper()
	b.eval(expression, &n)
	return n
}

// press presses a key.
func (b *tab) press(key string) {
	b.t.Helper()
	codes := map[string]int{"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Home": 36, "End": 35, "Tab": 9}
	for _, kind := range []string{"rawKeyDown", "keyUp"} {
		b.call("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": codes[key]}, nil)
	}
}

// look sets the window's size and the colour scheme.
func (b *tab) look(width, height int, scheme string) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}, nil)
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// shot writes a picture of the window, or of the whole page.
func (b *tab) shot(file string, whole bool) {
	b.t.Helper()
	var r struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"captureBeyondViewport": whole}, &r)
	b.keep(file, r.Data)
}

// print writes the page as it would be printed.
func (b *tab) print(file string) {
	b.t.Helper()
	var r struct{ Data string }
	b.call("Page.printToPDF", map[string]any{"printBackground": true, "preferCSSPageSize": true}, &r)
	b.keep(file, r.Data)
}

func (b *tab) keep(file, data string) {
	b.t.Helper()
	raw, err := base64.StdEncoding.DecodeString(data)
	require.NoError(b.t, err)
	require.NoError(b.t, os.WriteFile(file, raw, 0o666))
}

func fileURL(dir, name string) string {
	return fmt.Sprintf("file://%s", filepath.ToSlash(filepath.Join(dir, name)))
}
