// Command types checks the types of every package of the module and of its tests, as the compiler does it
// for other systems: go run ./.ci/types windows/amd64 darwin/arm64. It makes no code for them, which
// would take ten times the time.
package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	for _, platform := range os.Args[1:] {
		n, err := check(platform)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", platform, err)
			os.Exit(1)
		}
		fmt.Printf("%s: %d packages\n", platform, n)
	}
}

// check checks the packages for a platform, GOOS/GOARCH, and returns how many there are.
func check(platform string) (int, error) {
	system, arch, ok := strings.Cut(platform, "/")
	if !ok {
		return 0, fmt.Errorf("no platform, want GOOS/GOARCH")
	}
	all, err := packages.Load(&packages.Config{
		Mode:  packages.LoadAllSyntax,
		Env:   append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch),
		Tests: true,
	}, "./...")
	if err != nil {
		return 0, err
	}
	if wrong := packages.PrintErrors(all); wrong > 0 || len(all) == 0 {
		return 0, fmt.Errorf("%d errors in %d packages", wrong, len(all))
	}
	return len(all), nil
}
