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

// The race that the first version had must not come back.
func TestSaved(t *testing.T) { checkertest.Replay(t, "testdata/*.txtar", locks()...) }
