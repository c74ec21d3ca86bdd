package command

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/tools/txtar"

	"lockpick/fsfake"
)

// The parts of an archive that are no files. A file of such a name is written in quotes, and so
// is one whose name txtar would change.
const (
	partCommands = "commands"
	partSetting  = "setting"
)

// Parse reads a spec from a txtar archive: the part "commands" has a line for each process, as
// typed in a shell, or the program and its arguments as ["sh", "-c", "x"], quoted as in Go; the part "setting", which
// may be missing, lines "NAME VALUE" as [Spec.Set] takes them; every other part is a file in the
// virtual directory.
//
// [Spec.Format] writes more of a file than its part holds into lines of the setting:
//
//	file MODE AGE KIND "NAME" "TARGET"
//
// KIND is text, noeol (the text lacks its last newline), base64, dir, link, or same (a hard link), which have a
// TARGET; "stdin N TEXT" is the quoted standard input of process N, from 1; and
//
//	shared DEVICE KIND "PATH" "NAME"...
//
// is one of [Spec.Outside]: KIND is all, or of a directory new or private, of which the names are real, and not listed
// where it is private.
func Parse(text []byte) (Spec, error) {
	var s Spec
	var listed []File
	parts := map[string]string{}
	var order []string
	for _, part := range txtar.Parse(text).Files {
		switch part.Name {
		case partCommands:
			if err := s.parseCommands(string(part.Data)); err != nil {
				return s, err
			}
		case partSetting:
			for line := range strings.Lines(string(part.Data)) {
				if err := s.parseSetting(strings.TrimSpace(line), &listed); err != nil {
					return s, err
				}
			}
		default:
			name := part.Name
			if strings.HasPrefix(name, `"`) {
				var err error
				if name, err = strconv.Unquote(name); err != nil {
					return s, fmt.Errorf("command: the part %s: its name is not quoted as Go quotes strings", part.Name)
				}
			}
			if _, twice := parts[name]; twice {
				return s, fmt.Errorf("command: two parts are called %q", name)
			}
			parts[name] = string(part.Data)
			order = append(order, name)
		}
	}
	if len(s.Commands) == 0 {
		return s, fmt.Errorf("command: no part \"commands\": give one with a line for each process")
	}
	return s, s.parseFiles(listed, order, parts)
}

func (s *Spec) parseCommands(text string) error {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		l := Line{Shell: line}
		if strings.HasPrefix(line, `["`) {
			l.Shell = ""
			var ok bool
			if l.Argv, ok = parseWords(line[1:]); !ok {
				return fmt.Errorf("command: the command %s: no list of quoted words between brackets", line)
			}
		}
		s.Commands = append(s.Commands, l)
	}
	return nil
}

// parseWords reads quoted words with commas between them, up to a bracket.
func parseWords(text string) (words []string, ok bool) {
	for {
		quoted, err := strconv.QuotedPrefix(text)
		if err != nil {
			return nil, false
		}
		word, _ := strconv.Unquote(quoted)
		words = append(words, word)
		if text = strings.TrimSpace(text[len(quoted):]); text == "]" {
			return words, true
		}
		if text, ok = strings.CutPrefix(text, ","); !ok {
			return nil, false
		}
		text = strings.TrimSpace(text)
	}
}

// parseSetting reads one line of a setting.
func (s *Spec) parseSetting(line string, listed *[]File) error {
	name, value, _ := strings.Cut(line, " ")
	value = strings.TrimSpace(value)
	switch name {
	case "":
		return nil
	case "file":
		f, err := parseFile(value)
		if err != nil {
			return fmt.Errorf("command: file %s: %w", value, err)
		}
		*listed = append(*listed, f)
		return nil
	case "shared":
		r, err := parseRegion(value)
		if err != nil {
			return fmt.Errorf("command: shared %s: %w", value, err)
		}
		s.Outside = append(s.Outside, r)
		return nil
	case "stdin":
		number, quoted, _ := strings.Cut(value, " ")
		n, err := strconv.Atoi(number)
		text, uerr := strconv.Unquote(strings.TrimSpace(quoted))
		if err != nil || uerr != nil || n < 1 || n > len(s.Commands) {
			return fmt.Errorf("command: stdin %s: give the number of a command above, from 1, and a quoted text", value)
		}
		s.Commands[n-1].Stdin = text
		return nil
	}
	return s.Set(name, value)
}

// The kinds of files in an archive.
const (
	kindText   = "text"
	kindNoEOL  = "noeol"
	kindBase64 = "base64"
	kindDir    = "dir"
	kindLink   = "link"
	kindSame   = "same"
	kindFIFO   = "fifo"
	kindSocket = "socket"
)

// imageWord ends the line of a file with [File.Image].
const imageWord = "image"

// parseFile reads what a setting says of a file. Its kind stands in Content.
func parseFile(value string) (f File, err error) {
	words := strings.SplitN(value, " ", 4)
	if len(words) < 4 {
		return f, errors.New(`give MODE AGE KIND "NAME"`)
	}
	mode, err := strconv.ParseUint(words[0], 8, 12)
	if err != nil {
		return f, fmt.Errorf("the mode %s is no octal number", words[0])
	}
	if f.Age, err = time.ParseDuration(words[1]); err != nil {
		return f, fmt.Errorf("the age %s is none such as 3m0s", words[1])
	}
	quoted, err := strconv.QuotedPrefix(words[3])
	if err == nil {
		f.Name, err = strconv.Unquote(quoted)
	}
	if err != nil {
		return f, errors.New("its name is not quoted as Go quotes strings")
	}
	f.Mode, f.Content = uint32(mode), words[2]
	rest := strings.TrimSpace(words[3][len(quoted):])
	rest, f.Image = strings.CutSuffix(rest, imageWord)
	rest = strings.TrimSpace(rest)
	if to := map[string]*string{kindLink: &f.Link, kindSame: &f.Same}[f.Content]; to != nil {
		if *to, err = strconv.Unquote(rest); err != nil {
			return f, errors.New("its target is not quoted as Go quotes strings")
		}
		rest = ""
	}
	if uid, gid, ok := strings.Cut(rest, ":"); ok && isNumber(uid) && isNumber(gid) {
		f.Owner, rest = rest, ""
	}
	if rest != "" {
		return f, fmt.Errorf("%q is too much", rest)
	}
	return f, nil
}

func isNumber(s string) bool {
	_, err := strconv.ParseUint(s, 10, 32)
	return err == nil
}

// The kinds of places outside of the directory in an archive.
const (
	sharedAll     = "all"
	sharedNew     = "new"
	sharedPrivate = "private"
)

// parseRegion reads what a setting says of a place outside of the directory.
func parseRegion(value string) (r fsfake.Region, err error) {
	words := strings.SplitN(value, " ", 3)
	if len(words) < 3 {
		return r, errors.New(`give DEVICE KIND "PATH"`)
	}
	if r.Device, err = strconv.Atoi(words[0]); err != nil {
		return r, fmt.Errorf("the device %s is no number", words[0])
	}
	if r.Partly, r.Hidden = words[1] != sharedAll, words[1] == sharedPrivate; r.Partly && !r.Hidden &&
		words[1] != sharedNew {
		return r, fmt.Errorf("the kind %q is unknown: choose all, new or private", words[1])
	}
	for rest := words[2]; rest != ""; rest = strings.TrimSpace(rest) {
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return r, errors.New("a name is not quoted as Go quotes strings")
		}
		name, _ := strconv.Unquote(quoted)
		if rest = rest[len(quoted):]; r.Path == "" {
			r.Path = name
		} else {
			r.Real = append(r.Real, name)
		}
	}
	return r, nil
}

func formatRegion(r *fsfake.Region) string {
	kind := sharedAll
	switch {
	case r.Hidden:
		kind = sharedPrivate
	case r.Partly:
		kind = sharedNew
	}
	text := fmt.Sprintf("%d %s %q", r.Device, kind, r.Path)
	for _, name := range r.Real {
		text += " " + strconv.Quote(name)
	}
	return text
}

// parseFiles joins what the setting says of files with the parts that hold them.
func (s *Spec) parseFiles(listed []File, order []string, parts map[string]string) error {
	if len(listed) == 0 {
		for _, name := range order {
			s.Files = append(s.Files, File{Name: name, Content: parts[name], Mode: usualMode(parts[name])})
		}
		return nil
	}
	for _, f := range listed {
		text, there := parts[f.Name]
		kind := f.Content
		f.Content = ""
		if there != hasPart(kind) {
			return fmt.Errorf("command: file %q is of the kind %s: give it a part exactly when it is "+
				"text, noeol or base64", f.Name, kind)
		}
		order = slices.DeleteFunc(order, func(n string) bool { return n == f.Name })
		switch kind {
		case kindText:
			f.Content = text
		case kindNoEOL:
			f.Content = strings.TrimSuffix(text, "\n")
		case kindBase64:
			b, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(text, "\n", ""))
			if err != nil {
				return fmt.Errorf("command: file %q: %w", f.Name, err)
			}
			f.Content = string(b)
		case kindDir, kindLink:
		case kindFIFO:
			f.Node = fsfake.KindFIFO
		case kindSocket:
			f.Node = fsfake.KindSocket
		case kindSame:
			if !slices.ContainsFunc(s.Files, func(o File) bool { return o.Name == f.Same }) {
				return fmt.Errorf("command: file %q is the same as %q, which does not stand above it", f.Name, f.Same)
			}
		default:
			return fmt.Errorf("command: file %q: the kind %q is unknown: "+
				"choose text, noeol, base64, dir, link, same, fifo or socket", f.Name, kind)
		}
		s.Files = append(s.Files, f)
	}
	if len(order) > 0 {
		return fmt.Errorf("command: the setting lists files, and %q is not among them", order[0])
	}
	return nil
}

// hasPart reports whether a file of a kind has a part of its own.
func hasPart(kind string) bool {
	return !slices.Contains([]string{kindDir, kindLink, kindSame, kindFIFO, kindSocket}, kind)
}

// usualMode is the mode of a file in an archive that says nothing of it.
func usualMode(content string) uint32 {
	if strings.HasPrefix(content, "#!") {
		return 0o755
	}
	return 0o644
}

// Format writes a spec as an archive that [Parse] reads: everything but its ID. The error says
// what an archive cannot hold.
func (s *Spec) Format() ([]byte, error) {
	var a txtar.Archive
	var commands, setting strings.Builder
	for i, l := range s.Commands {
		if l.Func != nil {
			return nil, fmt.Errorf("command: %s is a Go function, which an archive cannot hold: keep the spec in Go", l)
		}
		text := l.Shell
		if len(l.Argv) > 0 || text != strings.TrimSpace(text) || strings.HasPrefix(text, `["`) || strings.ContainsAny(text, "\n\r") {
			var words []string
			for _, w := range l.argv() {
				words = append(words, strconv.Quote(w))
			}
			text = "[" + strings.Join(words, ", ") + "]"
		}
		fmt.Fprintln(&commands, text)
		if l.Stdin != "" {
			fmt.Fprintf(&setting, "stdin %d %s\n", i+1, strconv.Quote(l.Stdin))
		}
	}
	if err := s.formatSetting(&setting); err != nil {
		return nil, err
	}
	var parts []txtar.File
	plain := !slices.ContainsFunc(s.Files, func(f File) bool { return !f.plain() })
	for _, f := range s.Files {
		kind, data := f.encode()
		if !plain {
			fmt.Fprintf(&setting, "file %04o %s %s %s", f.mode(), f.Age, kind, strconv.Quote(f.Name))
			if to := cmp.Or(f.Link, f.Same); to != "" {
				fmt.Fprintf(&setting, " %s", strconv.Quote(to))
			} else if f.Owner != "" {
				fmt.Fprintf(&setting, " %s", f.Owner)
			}
			if f.Image {
				setting.WriteString(" " + imageWord)
			}
			fmt.Fprintln(&setting)
		}
		if hasPart(kind) {
			parts = append(parts, txtar.File{Name: partName(f.Name), Data: data})
		}
	}
	a.Files = append(a.Files, txtar.File{Name: partCommands, Data: []byte(commands.String())})
	if setting.Len() > 0 {
		a.Files = append(a.Files, txtar.File{Name: partSetting, Data: []byte(setting.String())})
	}
	a.Files = append(a.Files, parts...)
	return txtar.Format(&a), nil
}

// plain reports whether a part alone says everything of a file.
func (f *File) plain() bool {
	kind, _ := f.encode()
	return kind == kindText && f.Age == 0 && f.Owner == "" && !f.Image && f.mode() == usualMode(f.Content)
}

// encode returns the kind of a file, and the text of its part.
func (f *File) encode() (kind string, data []byte) {
	switch {
	case f.Link != "":
		return kindLink, nil
	case f.Same != "":
		return kindSame, nil
	case strings.HasSuffix(f.Name, "/"):
		return kindDir, nil
	case f.Node == fsfake.KindFIFO:
		return kindFIFO, nil
	case f.Node == fsfake.KindSocket:
		return kindSocket, nil
	case holds(f.Content):
		return kindText, []byte(f.Content)
	case holds(f.Content + "\n"):
		return kindNoEOL, []byte(f.Content + "\n")
	}
	const width = 76
	code := base64.StdEncoding.EncodeToString([]byte(f.Content))
	for len(code) > width {
		data = append(append(data, code[:width]...), '\n')
		code = code[width:]
	}
	return kindBase64, append(append(data, code...), '\n')
}

// holds reports whether a part of an archive holds a text as it is.
func holds(text string) bool {
	if !utf8.ValidString(text) || strings.Contains(text, "\x00") {
		return false
	}
	a := txtar.Parse(txtar.Format(&txtar.Archive{Files: []txtar.File{{Name: "x", Data: []byte(text)}}}))
	return len(a.Files) == 1 && string(a.Files[0].Data) == text
}

// partName is what the part of a file is called.
func partName(name string) string {
	safe := name == strings.TrimSpace(name) && name != partCommands && name != partSetting && strconv.Quote(name) == `"`+name+`"`
	if safe && !strings.Contains(name, " --") {
		return name
	}
	return strconv.Quote(name)
}
