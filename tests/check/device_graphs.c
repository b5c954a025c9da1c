// SPDX-License-Identifier: Apache-2.0
//
// See device_graphs.h.
#include "tests/check/device_graphs.h"

#include <criterion/criterion.h>
#include <stdlib.h>

// Bytes of a row: image 20, padded to 32; maps 40, 48; masks 20 bits, 16; p and fc 16.
static const char residual_net[] =
	"name: res\ninput: {height: 6, width: 5, channels: 2}\nnodes:\n"
	"  - {name: c0, op: conv, channels: 4, kernel: 3, pad: 1}\n"
	"  - {name: g0, op: gn, group_channels: 2}\n"
	"  - {name: r0, op: relu}\n"
	"  - {name: c1, op: conv, channels: 4, kernel: 3, pad: 1}\n"
	"  - {name: g1, op: gn, group_channels: 2}\n"
	"  - {name: a, op: add, inputs: [g1, r0]}\n"
	"  - {name: r1, op: relu}\n"
	"  - {name: p, op: global_pool}\n"
	"  - {name: fc, op: fc, units: 3, bias: true}\n"
	"  - {name: loss, op: loss}\n";

static const char residual[] =
	"schedule 1\nnet res\nbatch 3\narray 4x4\nbuffer 16384\nbus 16\n"
	"group forward c0 fc\nsub_batch 2\nweight c0 resident\nweight g1 resident\n"
	"strip 0\n"
	"load act:input=0:6\n"
	"compute act:c0=0:6\n"
	"store act:c0=0:6\n"
	"compute act:g0=0:6\n"
	"compute act:r0=0:6 mask\n"
	"store mask:r0=0:6\n"
	"store act:r0=0:6\n"
	"compute act:c1=0:6\n"
	"store act:c1=0:6\n"
	"statistics g1=0:6\n"
	"compute act:g1=0:6\n"
	"compute act:a=0:6\n"
	"compute act:r1=0:6 mask\n"
	"store mask:r1=0:6\n"
	"compute act:p=0:1\n"
	"store act:p=0:1\n"
	"compute act:fc=0:1\n"
	"store act:fc=0:1\n"
	"group backward c0 fc\nsub_batch 3\nwgrad c1 resident\nwgrad g0 resident\n"
	"strip 0\n"
	"load grad:fc=0:1\n"
	"load act:p=0:1\n"
	"accumulate fc=0:1\n"
	"compute grad:p=0:1\n"
	"compute grad:r1=0:6\n"
	"load mask:r1=0:6\n"
	"compute grad:a=0:6 mask\n"
	"split a=0:6\n"
	"load act:c1=0:6\n"
	"compute grad:c1=0:6\n"
	"free act:c1\n"
	"load act:r0=0:6\n"
	"accumulate c1=0:6\n"
	"compute grad:r0=0:6 by c1\n"
	"free grad:c1\n"
	"load mask:r0=0:6\n"
	"compute grad:g0=0:6 mask\n"
	"load act:c0=0:6\n"
	"statistics g0=0:6\n"
	"compute grad:c0=0:6\n"
	"load act:input=0:6\n"
	"accumulate c0=0:6\n";

// Bytes of a row: image, s, b2 (padded) and pb 32, b1, d, e and o 16, both and r 72, padded to 80; pb's index 64 bits, 16; v and fc 16.
static const char concat_net[] =
	"name: cat\ninput: {height: 4, width: 4, channels: 4}\nnodes:\n"
	"  - {name: s, op: conv, channels: 4, kernel: 1}\n"
	"  - {name: b1, op: conv, channels: 2, kernel: 1}\n"
	"  - {name: b2, op: conv, input: s, channels: 3, kernel: 3, pad: 1}\n"
	"  - {name: pb, op: max_pool, input: s, kernel: 3, stride: 1, pad: 1}\n"
	"  - {name: both, op: concat, inputs: [b1, b2, pb]}\n"
	"  - {name: r, op: relu}\n"
	"  - {name: d, op: conv, channels: 2, kernel: 1}\n"
	"  - {name: e, op: conv, input: both, channels: 2, kernel: 1}\n"
	"  - {name: o, op: add, inputs: [d, e]}\n"
	"  - {name: v, op: avg_pool, kernel: 2, stride: 2}\n"
	"  - {name: fc, op: fc, units: 2}\n"
	"  - {name: loss, op: loss}\n";

static const char concat[] =
	"schedule 1\nnet cat\nbatch 2\narray 4x4\nbuffer 8192\nbus 16\n"
	"group forward s fc\nsub_batch 1\n"
	"strip 0\n"
	"load act:input=0:4\n"
	"compute act:s=0:4\n"
	"store act:s=0:4\n"
	"compute act:b1=0:4\n"
	"compute act:b2=0:4\n"
	"compute act:pb=0:4\n"
	"store mask:pb=0:4\n"
	"compute act:both=0:4\n"
	"store act:both=0:4\n"
	"compute act:r=0:4\n"
	"store act:r=0:4\n"
	"compute act:d=0:4\n"
	"free act:r\n"
	"compute act:e=0:4\n"
	"compute act:o=0:4\n"
	"compute act:v=0:2\n"
	"store act:v=0:2\n"
	"compute act:fc=0:1\n"
	"store act:fc=0:1\n"
	"group backward s fc\nsub_batch 2\n"
	"strip 0\n"
	"load grad:fc=0:1\n"
	"load act:v=0:2\n"
	"accumulate fc=0:1\n"
	"compute grad:v=0:2\n"
	"compute grad:o=0:4\n"
	"split o=0:4\n"
	"load act:both=0:4\n"
	"accumulate e=0:4\n"
	"compute grad:both=0:4 by e\n"
	"free act:both\n"
	"load act:r=0:4\n"
	"accumulate d=0:4\n"
	"compute grad:r=0:4\n"
	"compute grad:both=0:4 by r act\n"
	"free act:r\n"
	"split both=0:4\n"
	"load mask:pb=0:4\n"
	"compute grad:s=0:4 by pb\n"
	"load act:s=0:4\n"
	"accumulate b2=0:4\n"
	"compute grad:s=0:4 by b2\n"
	"accumulate b1=0:4\n"
	"compute grad:s=0:4 by b1\n"
	"load act:input=0:4\n"
	"accumulate s=0:4\n";

// Bytes of a row: image and c0 64; c1, sc and a 48; p 24, padded to 32.
static const char slices_net[] =
	"name: sl\ninput: {height: 4, width: 4, channels: 8}\nnodes:\n"
	"  - {name: c0, op: conv, channels: 8, kernel: 3, pad: 1, bias: true}\n"
	"  - {name: c1, op: conv, channels: 12, kernel: 3, stride: 2, pad: 1, bias: true}\n"
	"  - {name: sc, op: conv, input: c0, channels: 12, kernel: 1, stride: 2}\n"
	"  - {name: a, op: add, inputs: [c1, sc]}\n"
	"  - {name: p, op: global_pool}\n"
	"  - {name: loss, op: loss}\n";

static const char slices[] =
	"schedule 1\nnet sl\nbatch 3\narray 4x4\nbuffer 16384\nbus 16\n"
	"group forward c0 p\nsub_batch 2\nweight c0 resident\nweight c1 streamed slice 8\n"
	"strip 0\n"
	"load act:input=0:4\n"
	"compute act:c0=0:4\n"
	"store act:c0=0:4\n"
	"compute act:c1=0:2\n"
	"compute act:sc=0:2\n"
	"compute act:a=0:2\n"
	"compute act:p=0:1\n"
	"store act:p=0:1\n"
	"group backward c0 p\nsub_batch 2\nweight c1 streamed slice 8\nweight sc streamed slice 4\nwgrad c1 streamed slice 4\nwgrad c0 resident\n"
	"strip 0\n"
	"load grad:p=0:1\n"
	"compute grad:a=0:2\n"
	"split a=0:2\n"
	"load act:c0=0:4\n"
	"accumulate sc=0:2\n"
	"compute grad:c0=0:4 by sc\n"
	"accumulate c1=0:2\n"
	"free act:c0\n"
	"compute grad:c0=0:4 by c1\n"
	"load act:input=0:4\n"
	"accumulate c0=0:4\n";

// Bytes of a row: image 24, padded to 32, and so c and r; m, k, j and o 12, 16; m's index 72 bits, 16; r's mask 12 bits, 16; gp 16.
static const char pools_net[] =
	"name: pools\ninput: {height: 6, width: 6, channels: 2}\nnodes:\n"
	"  - {name: c, op: conv, channels: 2, kernel: 1}\n"
	"  - {name: r, op: relu}\n"
	"  - {name: m, op: max_pool, kernel: 3, stride: 2, pad: 1}\n"
	"  - {name: k, op: conv, channels: 2, kernel: 1}\n"
	"  - {name: j, op: conv, input: r, channels: 2, kernel: 1, stride: 2}\n"
	"  - {name: o, op: add, inputs: [k, j]}\n"
	"  - {name: gp, op: global_pool}\n"
	"  - {name: loss, op: loss}\n";

static const char pools[] =
	"schedule 1\nnet pools\nbatch 2\narray 4x4\nbuffer 4096\nbus 16\n"
	"group forward c c\nsub_batch 2\n"
	"strip 0\n"
	"load act:input=0:6\n"
	"compute act:c=0:6\n"
	"store act:c=0:6\n"
	"group forward r m\nsub_batch 1\n"
	"strip 0\n"
	"load act:c=0:4\n"
	"compute act:r=0:4\n"
	"compute act:m=0:2\n"
	"free act:c\n"
	"load act:c=4:6\n"
	"compute act:r=4:6\n"
	"compute act:m=2:3\n"
	"store act:m=0:3\n"
	"store mask:m=0:3\n"
	"group forward r gp\nsub_batch 2\n"
	"strip 0\n"
	"load act:c=0:6\n"
	"compute act:r=0:6\n"
	"load act:m=0:3\n"
	"compute act:k=0:3\n"
	"compute act:j=0:3\n"
	"compute act:o=0:3\n"
	"compute act:gp=0:1\n"
	"store act:gp=0:1\n"
	"group backward r gp\nsub_batch 2\n"
	"strip 0\n"
	"load grad:gp=0:1\n"
	"compute grad:o=0:3\n"
	"split o=0:3\n"
	"load act:c=0:6\n"
	"compute act:r=0:6 mask\n"
	"accumulate j=0:3\n"
	"free act:r\n"
	"compute grad:r=0:6 by j\n"
	"load act:m=0:3\n"
	"accumulate k=0:3\n"
	"compute grad:m=0:3\n"
	"load mask:m=0:3\n"
	"compute grad:r=0:2 by m\n"
	"compute grad:r=2:6 by m\n"
	"compute grad:c=0:6 mask\n"
	"store grad:c=0:6\n"
	"group backward c c\nsub_batch 1\n"
	"strip 0\n"
	"load grad:c=0:3\n"
	"load act:input=0:3\n"
	"accumulate c=0:3\n"
	"free grad:c\n"
	"free act:input\n"
	"load grad:c=3:6\n"
	"load act:input=3:6\n"
	"accumulate c=3:6\n";

// Bytes of a row: image 48; c0, a, r and d 96; r's mask 48 bits, 16; gp 32. Filters of a have 36 weights, of d 9.
static const char groups_net[] =
	"name: grp\ninput: {height: 6, width: 6, channels: 4}\nnodes:\n"
	"  - {name: c0, op: conv, channels: 8, kernel: 1}\n"
	"  - {name: a, op: conv, channels: 16, kernel: 3, stride: 2, pad: 1, groups: 2, bias: true}\n"
	"  - {name: r, op: relu}\n"
	"  - {name: d, op: conv, channels: 16, kernel: 3, pad: 1, groups: 16}\n"
	"  - {name: gp, op: global_pool}\n"
	"  - {name: loss, op: loss}\n";

static const char groups[] =
	"schedule 1\nnet grp\nbatch 3\narray 4x4\nbuffer 16384\nbus 16\n"
	"group forward c0 gp\nsub_batch 2\nweight a streamed slice 8\nweight d streamed slice 8\n"
	"strip 0\n"
	"load act:input=0:6\n"
	"compute act:c0=0:6\n"
	"store act:c0=0:6\n"
	"compute act:a=0:3\n"
	"compute act:r=0:3 mask\n"
	"store mask:r=0:3\n"
	"store act:r=0:3\n"
	"compute act:d=0:3\n"
	"compute act:gp=0:1\n"
	"store act:gp=0:1\n"
	"group backward c0 gp\nsub_batch 2\nwgrad a streamed slice 8\nwgrad d resident\n"
	"strip 0\n"
	"load grad:gp=0:1\n"
	"compute grad:d=0:3\n"
	"load act:r=0:3\n"
	"accumulate d=0:3\n"
	"compute grad:r=0:3\n"
	"load mask:r=0:3\n"
	"compute grad:a=0:3 mask\n"
	"load act:c0=0:6\n"
	"accumulate a=0:3\n"
	"compute grad:c0=0:6\n"
	"load act:input=0:6\n"
	"accumulate c0=0:6\n";

const struct graph_case device_cases[DEVICE_COUNT] = {
	[DEVICE_RESIDUAL] = {"residual", residual_net, residual},
	[DEVICE_CONCAT] = {"concat", concat_net, concat},
	[DEVICE_NORM_STRIPS] = {"norm strips", device_norm_strips_net, device_norm_strips},
	[DEVICE_SLICES] = {"slices", slices_net, slices},
	[DEVICE_POOLS] = {"pools", pools_net, pools},
	[DEVICE_GROUPS] = {"groups", groups_net, groups},
};

int device_check(const struct graph_case *graph, const char *text, struct check_result *result)
{
	struct schedule schedule;
	struct wc_error err = {""};
	struct net net;
	int rc;

	graph_net(&net, graph->yaml);
	fixture_schedule(&schedule, &net, text);
	rc = schedule_check_with(&schedule, &net, &(struct check_options){true, true}, result, &err);
	cr_assert_eq(rc == 0, result->ok);
	cr_assert_eq(rc == 0, result->violation.kind == CHECK_NONE, "%s", err.text);
	cr_assert(strlen(err.text) >= strlen(result->violation.text) && !strcmp(err.text + strlen(err.text) - strlen(result->violation.text), result->violation.text), "%s",
		  err.text);
	schedule_release(&schedule);
	net_release(&net);
	return rc;
}

int device_check_replaced(const struct graph_case *graph, const char *from, int nth, const char *to, struct check_result *result)
{
	char *text = fixture_replace(graph->text, from, nth, to);
	int rc = device_check(graph, text, result);

	free(text);
	return rc;
}
