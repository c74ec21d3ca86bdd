package checker

import (
	"fmt"
	"strings"

	"github.com/anishathalye/porcupine"

	"lockpick/checker/internal/history"
	"lockpick/checker/trace"
	"lockpick/model"
)

// historyText writes down what matters of a history, independently of the keys that
// the engines use: for each client the operations in order, and with each how many
// operations of every client had returned when it was invoked.
func historyText(spec model.Spec, ops []porcupine.Operation) string {
	ops = history.Only(spec, ops)
	clients := 0
	for _, op := range ops {
		clients = max(clients, op.ClientId+1)
	}
	var b strings.Builder
	for c := range clients {
		for _, op := range ops {
			if op.ClientId != c {
				continue
			}
			fmt.Fprintf(&b, "%d: %v -> %v after", c, op.Input, op.Output)
			for before := range clients {
				n := 0
				for _, o := range ops {
					if o.ClientId == before && o.Return < op.Call {
						n++
					}
				}
				fmt.Fprintf(&b, " %d", n)
			}
			if op.Return == trace.Never {
				b.WriteString(", pending")
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// pastOperations lays a history of the graph out in time.
func (x *explorer) pastOperations(past uint32) []porcupine.Operation {
	return x.histories.Operations(past)
}
