// SPDX-License-Identifier: Apache-2.0
#include "traces/error.h"

#include <stdarg.h>
#include <stdio.h>

int wc_fail(struct wc_error *err, int code, const char *format, ...)
{
	if (err) {
		va_list args;

		va_start(args, format);
		vsnprintf(err->text, sizeof(err->text), format, args);
		va_end(args);
	}
	return code;
}
