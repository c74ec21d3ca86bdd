// Package docs holds the pages of the documentation that the command prints.
package docs

import _ "embed"

// Causes is causes.md: a section for each kind of cause, and right code.
//
//go:embed causes.md
var Causes string
