package main

import (
	"testing"

	"lockpick/checker/checkertest"
)

func TestBoards(t *testing.T) {
	for _, sc := range boards() {
		t.Run(sc.Variant(), func(t *testing.T) { checkertest.Run(t, sc) })
	}
}
