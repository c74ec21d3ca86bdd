package scenarios

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
	"lockpick/model"
)

func TestPropertiesAreWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range Properties() {
		require.NoError(t, p.Validate())
		require.False(t, seen[p.ID], "two properties have the id %q", p.ID)
		seen[p.ID] = true
		require.NotEmpty(t, p.Told(Violation{Answer: "get → 3", Cycle: 2, Said: "all is lost"}), p.ID)
	}
}

// Every variable that is a property is in the list.
func TestPropertiesAreListed(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "properties.go", nil, 0)
	require.NoError(t, err)
	var declared, listed []string
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if v, ok := s.(*ast.ValueSpec); ok {
					declared = append(declared, v.Names[0].Name)
				}
			}
		case *ast.FuncDecl:
			if d.Name.Name == "Properties" {
				ast.Inspect(d.Body, func(n ast.Node) bool {
					if c, ok := n.(*ast.CompositeLit); ok {
						for _, e := range c.Elts {
							listed = append(listed, e.(*ast.Ident).Name)
						}
					}
					return true
				})
			}
		}
	}
	require.NotEmpty(t, declared)
	for _, name := range declared {
		require.Contains(t, listed, name, "scenarios.%s is not in the list of Properties", name)
	}
	require.Len(t, listed, len(declared))
}

func TestPropertyValidate(t *testing.T) {
	good := Property{ID: "mine", Meaning: "All is well.", Invariant: func(View) string { return "" }}
	require.NoError(t, good.Validate())
	for want, change := range map[string]func(*Property){
		`property "": the id must be lower-case words`:       func(p *Property) { p.ID = "" },
		`property "Mine": the id must be`:                    func(p *Property) { p.ID = "Mine" },
		`property "a--b": the id must be`:                    func(p *Property) { p.ID = "a--b" },
		`property "mine": Meaning is missing`:                func(p *Property) { p.Meaning = " " },
		`make it one sentence with a full stop`:              func(p *Property) { p.Meaning = "all is well" },
		`property "mine": nothing decides it`:                func(p *Property) { p.Invariant = nil },
		`property "mine": Spec and Invariant both decide it`: func(p *Property) { p.Spec = model.Mutex() },
		`Spec: model: the specification mine lacks Accepts`: func(p *Property) {
			p.Invariant, p.Spec = nil, model.Spec{Name: "mine", Apply: model.Mutex().Apply}
		},
		`Spec: model: the initial state of floats: ` +
			`model: a value of a specification cannot hold a float64`: func(p *Property) {
			p.Invariant, p.Spec = nil, model.Define("floats", 0.5)
		},
		`question 9 is unknown`: func(p *Property) { p.Invariant, p.Question = nil, 9 },
		`Decides is missing`:    func(p *Property) { p.Invariant, p.Question = nil, Starves },
		`KeepsExits is for invariants`: func(p *Property) {
			p.Invariant, p.Question, p.KeepsExits = nil, Stuck, true
		},
		`OfHolders is for invariants`: func(p *Property) {
			p.Invariant, p.Question, p.OfHolders = nil, Stuck, true
		},
		`property "wedge": the id belongs to a property of package scenarios`: func(p *Property) { p.ID = "wedge" },
	} {
		p := good
		change(&p)
		require.ErrorContains(t, p.Validate(), want)
	}
	require.ErrorContains(t, (*Property)(nil).Validate(), "the property is nil")
}

func TestClaimsAreValidated(t *testing.T) {
	mine := &Property{ID: "mine", Meaning: "All is well.", Invariant: func(View) string { return "" }}
	sc := Scenario{ID: "a/b/c", Setting: Setting{Processes: 1},
		Program: func(int, int) Program { return func(*Task) {} }}
	for want, ps := range map[string][]*Property{
		"":                                       {mine, Deadlock},
		`two claims are about the property mine`: {mine, Deadlock, mine},
		`the property wedge needs a Probe`:       {Wedge},
		`the property is nil`:                    {nil},
		`claim 1 of scenario "a/b/c"`:            {{ID: "other"}},
	} {
		sc.Claims = nil
		for _, p := range ps {
			sc.Claims = append(sc.Claims, Claim{Property: p})
		}
		if err := sc.Validate(); want == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, want)
		}
	}
}

func TestFindProperty(t *testing.T) {
	mine := &Property{ID: "mine", Meaning: "All is well.", Invariant: func(View) string { return "" }}
	sc := Scenario{Claims: []Claim{{Property: Wedge}, {Property: mine}}}
	p, err := FindProperty("mine", sc)
	require.NoError(t, err)
	require.Same(t, mine, p)
	p, err = FindProperty("wedge")
	require.NoError(t, err)
	require.Same(t, Wedge, p)
	_, err = FindProperty("mine")
	require.ErrorContains(t, err, `unknown property "mine": choose one of mutual-exclusion, `)
	require.Equal(t, append(Properties(), mine), PropertiesOf(sc, sc))
	require.Equal(t, []*Property{LostUpdate, Wedge, mine}, InOrder([]*Property{mine, Wedge, LostUpdate, mine}))
}

func TestCounts(t *testing.T) {
	ok, pending := model.Acquired{OK: true}, model.Pending{}
	require.True(t, MutualExclusion.Counts(model.Acquire{Owner: "A"}, ok))
	require.False(t, MutualExclusion.Counts(model.Acquire{Owner: "A"}, pending))
	require.False(t, Duplicate.Counts(model.Acquire{Owner: "A"}, ok))
	require.True(t, CursorConsistency.Counts(model.Advance{}, model.Advanced{}))
	require.False(t, CursorConsistency.Counts(model.Append{}, model.Appended{}))
	require.True(t, Starvation.Counts(model.Acquire{Owner: "A"}, pending))
	require.False(t, Deadlock.Counts(model.Acquire{Owner: "A"}, ok))
	all := &Property{ID: "mine", Spec: model.Register()}
	require.True(t, all.Counts(model.Write{}, model.Written{}))
	require.False(t, all.Counts(model.Write{}, pending))
	require.False(t, all.Counts(model.Acquire{}, ok))
}

func TestView(t *testing.T) {
	m := fsfake.New(fsfake.Options{})
	m.AddProc(fsfake.ProcSpec{Pid: Pid(0)})
	root := m.Proc(1)
	require.NoError(t, root.WriteFile("/a", []byte("x"), 0o644))
	require.NoError(t, root.Link("/a", "/b"))
	require.NoError(t, root.WriteFile("/c", nil, 0o644))
	v := NewView(m)
	text, ok := v.ReadFile("/a")
	require.True(t, ok)
	require.Equal(t, "x", text)
	_, ok = v.ReadFile("/")
	require.False(t, ok)
	_, ok = v.Stat("/none")
	require.False(t, ok)
	f, ok := v.Stat("/a")
	require.True(t, ok)
	require.Zero(t, f.ID)
	require.Equal(t, 2, f.Nlink)
	require.True(t, v.Same("/a", "/b"))
	require.False(t, v.Same("/a", "/c"))
	require.False(t, v.Same("/none", "/none"))
	require.True(t, v.Alive("A"))
	require.False(t, v.Alive("B"))
	require.Equal(t, m.Now(), v.Now())

	id, _ := m.Lookup("/a")
	m.Mark(fsfake.Task{Pid: Pid(0), N: 2}, "/lock", "/a", id)
	require.Empty(t, ForeignRelease.Invariant(v))
	require.NoError(t, root.Rename("/c", "/a"))
	for h := range v.Holders() {
		require.Equal(t, Holder{Process: "A", Task: 2, Lock: "/lock", Path: "/a"}, h)
	}
	require.Equal(t, "A.2 holds, but what stands at /a is not the file it acquired", ForeignRelease.Invariant(v))
}

func TestHoldText(t *testing.T) {
	require.Equal(t, "nobody holds the lock", HoldText(nil))
	require.Equal(t, "A holds the lock", HoldText([]string{"A"}))
	require.Equal(t, "A and B both hold the lock", HoldText([]string{"A", "B"}))
	require.Equal(t, "A, B and C all hold the lock", HoldText([]string{"A", "B", "C"}))
}

func TestLockName(t *testing.T) {
	for path, want := range map[string]string{
		"": "", "/x": "/x", "x": "/x", "./x": "/x", "/run//./x/": "/run/x", "/d/../x": "/d/../x", "..": "..",
		"/a..b": "/a..b",
	} {
		require.Equal(t, want, LockName(path), path)
	}
}

// An acquisition that names no lock is of the one that others name, as evidence as for violations.
func TestEvidenceOfALockWithoutAName(t *testing.T) {
	did := func(by, lock string) Fact { return Fact{Did: didAcquire, By: by, About: lock} }
	require.Empty(t, MutualExclusion.Lacks([]Fact{did("A", ""), did("B", "/l")}))
	require.Empty(t, MutualExclusion.Lacks([]Fact{did("A", ""), did("B", "/l"), did("C", "/m")}))
	require.NotEmpty(t, MutualExclusion.Lacks([]Fact{did("A", "/m"), did("B", "/l")}))
	require.NotEmpty(t, MutualExclusion.Lacks([]Fact{did("B", ""), did("B", "/l")}))
}
