//go:build !(linux && amd64)

package native

import (
	"context"
	"errors"
)

func execute(context.Context, *job, []string) (*run, error) {
	return nil, errors.New("native runs are for linux/amd64 only")
}
