// Package content tells what a file holds in a line that is compared, and shown where it differs.
//
// It knows files, and that a directory has many of which commands touch few. It must not know who runs commands.
//
// # Limits
//
// More than 1 MiB that is new is told by a checksum. A file that is written while it is read may be told wrongly.
package content
