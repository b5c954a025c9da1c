// SPDX-License-Identifier: Apache-2.0
//
// The text of one error, filled where the fault is found and printed by main alone.
#ifndef WC_ERROR_H
#define WC_ERROR_H

enum { WC_ERROR_TEXT_BYTES = 512 };

struct wc_error {
	char text[WC_ERROR_TEXT_BYTES]; // one line without newline; empty: no error
};

// What an action returns besides 0. A message goes with every one of them.
enum wc_result {
	WC_OK = 0,
	WC_ERR_INPUT = -1,    // bad option, network, schedule, trace, command, or a file that cannot be opened or created: exit status 2
	WC_ERR_MISMATCH = -2, // device and golden model differ: exit status 1
	WC_ERR_SYSTEM = -3,   // out of memory, a read or write that fails later on, simulator: exit status 3
	WC_ERR_STOPPED = -4,  // an observer or a signal asked to stop
};

// Set the text, printf-style, and return `code`, so that a caller can write
// `return wc_fail(err, WC_ERR_INPUT, "...", ...)`. `err` may be NULL. An earlier text is replaced.
int wc_fail(struct wc_error *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
