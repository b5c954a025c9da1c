// SPDX-License-Identifier: Apache-2.0
//
// Opening a file that the user names, for reading. A pipe with a name is refused: until somebody writes to it, opening or
// reading it would wait, and nothing would say for what.
#ifndef WC_FILE_H
#define WC_FILE_H

enum wc_file_kind {
	WC_FILE_REGULAR, // a regular file alone: its size is known and any part of it can be read
	WC_FILE_STREAM,  // what can be read from beginning to end: also a terminal, and the pipe of a shell's <(...) or /dev/stdin
};

// A file descriptor, or -1 and in *why the reason (static, or valid until the next call).
int wc_file_open(const char *path, enum wc_file_kind kind, const char **why);
// The reason why a file of that path must not be opened, not even for writing: it is a pipe with a name. NULL: it may be, or there is none.
const char *wc_file_refused(const char *path);

#endif
