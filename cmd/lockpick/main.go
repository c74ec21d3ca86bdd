// Command lockpick tests the file-lock protocols that it brings along; see package cli.
package main

import (
	"lockpick/checker/cli"
	"lockpick/scenarios/all"
)

func main() { cli.Main(all.All()) }
