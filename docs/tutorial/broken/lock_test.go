package main

import (
	"testing"

	"lockpick/checker/checkertest"
)

func TestLocks(t *testing.T) {
	for _, sc := range locks() {
		t.Run(sc.Variant()+"-"+sc.SettingName(), func(t *testing.T) { checkertest.Run(t, sc) })
	}
}
