// SPDX-License-Identifier: Apache-2.0
//
// Included in front of every verilated source: what the model prints (failed assertions) goes to the shim instead of to stdout.
#ifndef WC_PRINTF_H
#define WC_PRINTF_H

#ifdef __cplusplus
extern "C"
#endif
int wc_rtl_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
#define VL_PRINTF wc_rtl_printf

#endif
