package main

import "lockpick/checker/cli"

func main() { cli.Main(boards()) }
