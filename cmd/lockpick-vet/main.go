// Lockpick-vet finds in the source of lock protocols what makes them no functions of the fake
// machine's answers. It is a tool for go vet:
//
//	go install lockpick/cmd/lockpick-vet
//	go vet -vettool=$(which lockpick-vet) ./...
package main

import (
	"golang.org/x/tools/go/analysis/unitchecker"

	"lockpick/checker/impure"
)

func main() { unitchecker.Main(impure.Analyzer) }
