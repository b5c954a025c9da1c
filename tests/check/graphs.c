// SPDX-License-Identifier: Apache-2.0
//
// See graphs.h.
#include "tests/check/graphs.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "driver/net/read.h"

// Maps of 8x8x4: 64 bytes a row, 512 a sample.
static const char residual[] =
	"name: res\ninput: {height: 8, width: 8, channels: 4}\nnodes:\n"
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

static const char identity[] =
	"schedule 1\nnet res\nbatch 3\nbuffer 8192\naccounting paper\nreserve 4096\n"
	"group forward c0 fc\nsub_batch 2\nweight c0 resident\n"
	"strip 0\n"
	"load act:input=0:8\n"
	"compute act:c0=0:8\n"
	"store act:c0=0:8\n"
	"compute act:g0=0:8\n"
	"compute act:r0=0:8 mask\n"
	"store act:r0=0:8\n"
	"compute act:c1=0:8\n"
	"store act:c1=0:8\n"
	"compute act:g1=0:8\n"
	"compute act:a=0:8\n"
	"compute act:r1=0:8 mask to mask:r1\n"
	"compute act:p=0:1\n"
	"store act:p=0:1\n"
	"compute act:fc=0:1\n"
	"store act:fc=0:1\n"
	"group backward c0 fc\nsub_batch 3\nwgrad c1 resident\n"
	"strip 0\n"
	"load grad:fc=0:1\n"
	"accumulate fc=0:1 from act:p\n"
	"compute grad:p=0:1\n"
	"compute grad:r1=0:8\n"
	"compute grad:a=0:8 mask\n"
	"split a=0:8 view\n"
	"compute grad:c1=0:8 from act:c1\n"
	"accumulate c1=0:8 from act:r0\n"
	"compute grad:r0=0:8 by c1\n"
	"compute grad:g0=0:8 mask from mask:r0\n"
	"compute grad:c0=0:8 from act:c0\n"
	"accumulate c0=0:8 from act:input\n";

// Only convolution outputs are stored; what lies between two norms runs strip by strip.
static const char regenerated[] =
	"schedule 1\nnet res\nbatch 3\nbuffer 8192\naccounting paper\nreserve 4096\n"
	"group forward c0 g0\nsub_batch 3\ntiling overl\n"
	"strip 0\n"
	"compute act:c0=0:4 from act:input to act:c0\n"
	"statistics g0=0:4\n"
	"strip 1\n"
	"compute act:c0=4:8 from act:input to act:c0\n"
	"statistics g0=4:8\n"
	"group forward c1 g1\nsub_batch 3\ntiling 2ps\n"
	"strip 0\n"
	"compute act:c1=0:4 using act:c0 from act:c0 to act:c1\n"
	"statistics g1=0:4\n"
	"strip 1\n"
	"compute act:c1=4:8 using act:c0 from act:c0=3:8 to act:c1\n"
	"statistics g1=4:8\n"
	"group forward a fc\nsub_batch 3\ntiling 2ps\n"
	"strip 0\n"
	"compute act:a=0:4 using act:c1,act:c0 from act:c1,act:c0\n"
	"compute act:r1=0:4 mask\n"
	"keep act:r1=0:4\n"
	"strip 1\n"
	"take act:r1=0:4\n"
	"compute act:a=4:8 using act:c1,act:c0 from act:c1,act:c0\n"
	"compute act:r1=4:8 mask\n"
	"compute act:p=0:1\n"
	"store act:p=0:1\n"
	"compute act:fc=0:1 to act:fc\n"
	"group backward c0 fc\nsub_batch 2\n"
	"strip 0\n"
	"accumulate fc=0:1 from grad:fc,act:p\n"
	"compute grad:p=0:1 from grad:fc\n"
	"compute grad:r1=0:8\n"
	"compute grad:a=0:8 mask\n"
	"split a=0:8 view\n"
	"compute grad:c1=0:8 through g1 from act:c1\n"
	"free grad:g1\n"
	"accumulate c1=0:8 using act:c0 from act:c0\n"
	"compute grad:r0=0:8 by c1\n"
	"compute grad:c0=0:8 through g0,r0 from act:c0\n"
	"accumulate c0=0:8 from act:input\n";

static const char shortcut_net[] =
	"name: short\ninput: {height: 8, width: 8, channels: 2}\nnodes:\n"
	"  - {name: c0, op: conv, channels: 4, kernel: 3, pad: 1}\n"
	"  - {name: c1, op: conv, channels: 4, kernel: 3, stride: 2, pad: 1}\n"
	"  - {name: g1, op: gn, group_channels: 2}\n"
	"  - {name: sc, op: conv, input: c0, channels: 4, kernel: 1, stride: 2}\n"
	"  - {name: gs, op: gn, group_channels: 2}\n"
	"  - {name: a, op: add, inputs: [g1, gs]}\n"
	"  - {name: r, op: relu}\n"
	"  - {name: gp, op: global_pool}\n"
	"  - {name: loss, op: loss}\n";

static const char shortcut[] =
	"schedule 1\nnet short\nbatch 4\nbuffer 4096\naccounting paper\n"
	"group forward c0 gp\nsub_batch 2\n"
	"strip 0\n"
	"compute act:c0=0:8 from act:input\n"
	"store act:c0=0:8\n"
	"compute act:c1=0:4 to act:c1\n"
	"free act:c0\n"
	"compute act:g1=0:4 from act:c1\n"
	"compute act:sc=0:4 from act:c0\n"
	"store act:sc=0:4\n"
	"compute act:gs=0:4\n"
	"compute act:a=0:4\n"
	"compute act:r=0:4 mask\n"
	"compute act:gp=0:1 to act:gp\n"
	"group backward c0 gp\nsub_batch 4\n"
	"strip 0\n"
	"compute grad:r=0:4 from grad:gp\n"
	"compute grad:a=0:4 mask\n"
	"split a=0:4 to grad:g1\n"
	"compute grad:sc=0:4 from act:sc\n"
	"accumulate sc=0:4 from act:c0\n"
	"compute grad:c0=0:8 by sc to grad:c0\n"
	"compute grad:c1=0:4 from grad:g1,act:c1\n"
	"accumulate c1=0:4 from act:c0\n"
	"compute grad:c0=0:8 by c1 from grad:c0\n"
	"accumulate c0=0:8 from act:input\n";

// Bytes of a sample: image 144, s 288, b1 144, b2 288, pb 288, r 720, d, e and o 144.
static const char concat_net[] =
	"name: cat\ninput: {height: 6, width: 6, channels: 2}\nnodes:\n"
	"  - {name: s, op: conv, channels: 4, kernel: 1}\n"
	"  - {name: b1, op: conv, channels: 2, kernel: 1}\n"
	"  - {name: b2, op: conv, input: s, channels: 4, kernel: 3, pad: 1}\n"
	"  - {name: pb, op: max_pool, input: s, kernel: 3, stride: 1, pad: 1}\n"
	"  - {name: both, op: concat, inputs: [b1, b2, pb]}\n"
	"  - {name: r, op: relu}\n"
	"  - {name: d, op: conv, channels: 2, kernel: 1}\n"
	"  - {name: e, op: conv, input: both, channels: 2, kernel: 1}\n"
	"  - {name: o, op: add, inputs: [d, e]}\n"
	"  - {name: gp, op: global_pool}\n"
	"  - {name: loss, op: loss}\n";

static const char concat[] =
	"schedule 1\nnet cat\nbatch 2\nbuffer 4096\naccounting paper\n"
	"group forward s gp\nsub_batch 1\n"
	"strip 0\n"
	"load act:input=0:6\n"
	"compute act:s=0:6\n"
	"store act:s=0:6\n"
	"compute act:b1=0:6\n"
	"compute act:b2=0:6\n"
	"compute act:pb=0:6\n"
	"store act:both=0:6\n"
	"compute act:r=0:6 mask\n"
	"compute act:d=0:6\n"
	"compute act:e=0:6\n"
	"compute act:o=0:6\n"
	"compute act:gp=0:1 to act:gp\n"
	"group backward s gp\nsub_batch 2\n"
	"strip 0\n"
	"compute grad:o=0:6 from grad:gp\n"
	"split o=0:6 view\n"
	"accumulate e=0:6 from act:both\n"
	"compute grad:both=0:6 by e\n"
	"accumulate d=0:6 using act:both from act:both\n"
	"compute grad:r=0:6\n"
	"compute grad:both=0:6 by r mask\n"
	"compute grad:s=0:6 by pb\n"
	"accumulate b2=0:6 from act:s\n"
	"compute grad:s=0:6 by b2\n"
	"accumulate b1=0:6 from act:s\n"
	"compute grad:s=0:6 by b1\n"
	"accumulate s=0:6 from act:input\n";

// Bytes of a row: image and c0 16, m and c1 8, v 4.
static const char strips_net[] =
	"name: strips\ninput: {height: 12, width: 4, channels: 2}\nnodes:\n"
	"  - {name: c0, op: conv, channels: 2, kernel: 3, pad: 1}\n"
	"  - {name: m, op: max_pool, kernel: 2}\n"
	"  - {name: c1, op: conv, channels: 2, kernel: 3, pad: 1}\n"
	"  - {name: v, op: avg_pool, kernel: 2}\n"
	"  - {name: fc, op: fc, units: 2}\n"
	"  - {name: loss, op: loss}\n";

static const char strips[] =
	"schedule 1\nnet strips\nbatch 2\nbuffer 4096\naccounting paper\n"
	"group forward c0 fc\nsub_batch 1\ntiling 2ps\n"
	"strip 0\n"
	"load act:input=0:7\n"
	"compute act:c0=0:6\n"
	"keep act:input=5:7\n"
	"compute act:m=0:3\n"
	"store act:m=0:3\n"
	"keep act:m=1:3\n"
	"compute act:c1=0:2\n"
	"compute act:v=0:1\n"
	"store act:v=0:1\n"
	"keep act:v=0:1\n"
	"strip 1\n"
	"take act:input=5:7\n"
	"load act:input=7:12\n"
	"compute act:c0=6:12\n"
	"compute act:m=3:6\n"
	"store act:m=3:6\n"
	"take act:m=1:3\n"
	"compute act:c1=2:6\n"
	"compute act:v=1:3\n"
	"store act:v=1:3\n"
	"take act:v=0:1\n"
	"compute act:fc=0:1\n"
	"store act:fc=0:1\n"
	"group backward c0 fc\nsub_batch 2\ntiling 2ps\n"
	"strip 0\n"
	"accumulate fc=0:1 from grad:fc,act:v\n"
	"compute grad:v=0:3 from grad:fc\n"
	"compute grad:c1=2:6\n"
	"accumulate c1=2:6 from act:m=1:6\n"
	"compute grad:m=3:6\n"
	"compute grad:c0=6:12\n"
	"accumulate c0=6:12 from act:input\n"
	"keep grad:v=0:1\n"
	"keep grad:c1=2:4\n"
	"strip 1\n"
	"take grad:v=0:1\n"
	"compute grad:c1=0:2\n"
	"take grad:c1=2:4\n"
	"accumulate c1=0:2 from act:m\n"
	"compute grad:m=0:3\n"
	"compute grad:c0=0:6\n"
	"accumulate c0=0:6 from act:input=0:7\n";

// 2048 parameters a layer, 4096 bytes; bytes of 3 samples: image and b 3072, a 6144, gp 192.
static const char wide_net[] =
	"name: wide\ninput: {height: 4, width: 4, channels: 32}\nnodes:\n"
	"  - {name: a, op: conv, channels: 64, kernel: 1}\n"
	"  - {name: b, op: conv, channels: 32, kernel: 1}\n"
	"  - {name: gp, op: global_pool}\n"
	"  - {name: loss, op: loss}\n";

static const char wide[] =
	"schedule 1\nnet wide\nbatch 3\nbuffer 4096\naccounting paper\n"
	"group forward a a\nsub_batch 3\nweight a blocked\nstrip 0\ncompute act:a=0:4 from act:input to act:a\n"
	"group forward b b\nsub_batch 3\nweight b blocked\nstrip 0\ncompute act:b=0:4 from act:a to act:b\n"
	"group forward gp gp\nsub_batch 3\nstrip 0\ncompute act:gp=0:1 from act:b to act:gp\n"
	"group backward gp gp\nsub_batch 3\nstrip 0\ncompute grad:b=0:4 from grad:gp to grad:b\n"
	"group backward b b\nsub_batch 3\nweight b blocked\nstrip 0\naccumulate b=0:4 from grad:b,act:a\n"
	"compute grad:a=0:4 from grad:b to grad:a\n"
	"group backward a a\nsub_batch 3\nweight a blocked\nstrip 0\naccumulate a=0:4 from grad:a,act:input\n";

// 4112 parameters, 8224 bytes; 16 samples of the image have 8192 bytes.
static const char heavy_net[] =
	"name: heavy\ninput: {height: 8, width: 8, channels: 4}\nnodes:\n"
	"  - {name: fc, op: fc, units: 16, bias: true}\n"
	"  - {name: loss, op: loss}\n";

static const char heavy[] =
	"schedule 1\nnet heavy\nbatch 16\nbuffer 4096\naccounting paper\n"
	"group forward fc fc\nsub_batch 16\nweight fc blocked\nstrip 0\ncompute act:fc=0:1 from act:input to act:fc\n"
	"group backward fc fc\nsub_batch 16\nweight fc blocked\nstrip 0\naccumulate fc=0:1 from grad:fc,act:input\n";

// Bytes of a row: image 24, k0, k1, k2, a and ad 16, j 32, i 48, rj 48.
static const char odd_net[] =
	"name: odd\ninput: {height: 7, width: 3, channels: 4}\nnodes:\n"
	"  - {name: k0, op: conv, channels: 4, kernel: 3, pad: 2, dilation: 2, groups: 2}\n"
	"  - {name: k1, op: conv, channels: 4, kernel: 1, bias: true}\n"
	"  - {name: k2, op: conv, input: k0, channels: 4, kernel: [3, 1], pad: [1, 0], groups: 4}\n"
	"  - {name: a, op: add, inputs: [k1, k2, k0]}\n"
	"  - {name: rk, op: relu, input: k0}\n"
	"  - {name: i, op: concat, inputs: [k1, rk]}\n"
	"  - {name: j, op: concat, inputs: [a, i]}\n"
	"  - {name: rj, op: relu}\n"
	"  - {name: ad, op: adaptive_pool, size: 3}\n"
	"  - {name: q, op: conv, channels: 2, kernel: 1}\n"
	"  - {name: s, op: conv, input: ad, channels: 2, kernel: 1}\n"
	"  - {name: out, op: concat, inputs: [q, s]}\n";

static const char odd[] =
	"schedule 1\nnet odd\nbatch 2\nbuffer 4096\naccounting paper\n"
	"group forward k0 out\nsub_batch 1\n"
	"strip 0\n"
	"load act:input=0:7\n"
	"compute act:k0=0:7\n"
	"compute act:k1=0:7\n"
	"compute act:k2=0:7\n"
	"compute act:a=0:7\n"
	"compute act:rk=0:7 mask\n"
	"compute act:rj=0:7 mask\n"
	"store act:k0=0:7\n"
	"compute act:ad=0:3\n"
	"store act:ad=0:3\n"
	"compute act:q=0:3\n"
	"compute act:s=0:3\n"
	"store act:out=0:3\n"
	"group backward k0 out\nsub_batch 2\n"
	"strip 0\n"
	"load grad:out=0:3\n"
	"accumulate s=0:3 from act:ad\n"
	"accumulate q=0:3 from act:ad\n"
	"compute grad:ad=0:3 by s\n"
	"compute grad:ad=0:3 by q\n"
	"compute grad:rj=0:7\n"
	"compute grad:j=0:7 mask\n"
	"compute grad:k0=0:7 by rk mask\n"
	"split a=0:7\n"
	"accumulate k2=0:7 from act:k0\n"
	"compute grad:k0=0:7 by k2\n"
	"accumulate k1=0:7 from act:k0\n"
	"compute grad:k0=0:7 by k1\n"
	"accumulate k0=0:7 from act:input\n";

// Every layer by itself; the add's gradient is split where it lies, in DRAM.
static const char layers[] =
	"schedule 1\nnet res\nbatch 3\nbuffer 8192\naccounting paper\n"
	"group forward c0 c0\nsub_batch 3\nstrip 0\ncompute act:c0=0:8 from act:input to act:c0\n"
	"group forward g0 g0\nsub_batch 3\nstrip 0\ncompute act:g0=0:8 from act:c0 to act:g0\n"
	"group forward r0 r0\nsub_batch 3\nstrip 0\ncompute act:r0=0:8 from act:g0 to act:r0\n"
	"group forward c1 c1\nsub_batch 3\nstrip 0\ncompute act:c1=0:8 from act:r0 to act:c1\n"
	"group forward g1 g1\nsub_batch 3\nstrip 0\ncompute act:g1=0:8 from act:c1 to act:g1\n"
	"group forward a a\nsub_batch 3\nstrip 0\ncompute act:a=0:8 from act:g1,act:r0 to act:a\n"
	"group forward r1 r1\nsub_batch 3\nstrip 0\ncompute act:r1=0:8 mask from act:a to act:r1\n"
	"group forward p p\nsub_batch 3\nstrip 0\ncompute act:p=0:1 from act:r1 to act:p\n"
	"group forward fc fc\nsub_batch 3\nstrip 0\ncompute act:fc=0:1 from act:p to act:fc\n"
	"group backward fc fc\nsub_batch 3\nstrip 0\naccumulate fc=0:1 from grad:fc,act:p\ncompute grad:p=0:1 from grad:fc to grad:p\n"
	"group backward p p\nsub_batch 3\nstrip 0\ncompute grad:r1=0:8 from grad:p to grad:r1\n"
	"group backward a r1\nsub_batch 3\nstrip 0\ncompute grad:a=0:8 mask from grad:r1 to grad:a\nsplit a=0:8 view\n"
	"group backward c1 g1\nsub_batch 3\nstrip 0\ncompute grad:c1=0:8 from grad:g1,act:c1 to grad:c1\n"
	"accumulate c1=0:8 from grad:c1,act:r0\n"
	"compute grad:r0=0:8 by c1 from grad:c1,grad:r0 to grad:r0\n"
	"group backward r0 r0\nsub_batch 3\nstrip 0\ncompute grad:g0=0:8 act from grad:r0,act:r0 to grad:g0\n"
	"group backward g0 g0\nsub_batch 3\nstrip 0\ncompute grad:c0=0:8 from grad:g0,act:c0 to grad:c0\n"
	"group backward c0 c0\nsub_batch 3\nstrip 0\naccumulate c0=0:8 from grad:c0,act:input\n";

// Bytes of a sample: 128 each of image, c, g, r, d, e and a.
static const char fork_net[] =
	"name: fork\ninput: {height: 4, width: 4, channels: 4}\nnodes:\n"
	"  - {name: c, op: conv, channels: 4, kernel: 1}\n"
	"  - {name: g, op: gn, group_channels: 2}\n"
	"  - {name: r, op: relu}\n"
	"  - {name: d, op: conv, channels: 4, kernel: 1}\n"
	"  - {name: e, op: conv, input: g, channels: 4, kernel: 1}\n"
	"  - {name: a, op: add, inputs: [d, e]}\n"
	"  - {name: p, op: global_pool}\n"
	"  - {name: loss, op: loss}\n";

static const char fork[] =
	"schedule 1\nnet fork\nbatch 2\nbuffer 4096\naccounting paper\n"
	"group forward c p\nsub_batch 2\n"
	"strip 0\n"
	"load act:input=0:4\n"
	"compute act:c=0:4\n"
	"store act:c=0:4\n"
	"statistics g=0:2\n"
	"statistics g=2:4\n"
	"compute act:d=0:4 using act:c\n"
	"compute act:e=0:4 using act:c\n"
	"compute act:a=0:4\n"
	"compute act:p=0:1 to act:p\n"
	"group backward c p\nsub_batch 1\n"
	"strip 0\n"
	"compute grad:a=0:4 from grad:p\n"
	"split a=0:4 view\n"
	"accumulate e=0:4 using act:c from act:c\n"
	"compute grad:g=0:4 by e to grad:g\n"
	"accumulate d=0:4 using act:c from act:c\n"
	"compute grad:r=0:4\n"
	"compute grad:g=0:4 by r using act:c from grad:g,act:c to grad:g\n"
	"statistics g=0:4 from act:c\n"
	"compute grad:c=0:2 from grad:g,act:c\n"
	"compute grad:c=2:4 from grad:g,act:c\n"
	"accumulate c=0:4 from act:input\n";

const struct graph_case graph_cases[GRAPH_COUNT] = {
	[GRAPH_IDENTITY] = {"identity", residual, identity}, [GRAPH_REGENERATED] = {"regenerated", residual, regenerated},
	[GRAPH_SHORTCUT] = {"shortcut", shortcut_net, shortcut}, [GRAPH_CONCAT] = {"concat", concat_net, concat},
	[GRAPH_STRIPS] = {"strips", strips_net, strips}, [GRAPH_WIDE] = {"wide", wide_net, wide},
	[GRAPH_HEAVY] = {"heavy", heavy_net, heavy}, [GRAPH_ODD] = {"odd", odd_net, odd},
	[GRAPH_LAYERS] = {"layers", residual, layers}, [GRAPH_FORK] = {"fork", fork_net, fork},
	[GRAPH_NORMS_OVERL] = {"norms_overl", graph_norms_net, graph_norms_overl}, [GRAPH_NORMS_2PS] = {"norms_2ps", graph_norms_net, graph_norms_2ps},
};

void graph_net(struct net *net, const char *yaml)
{
	struct wc_error err = {""};
	int rc = net_parse(net, "graph", yaml, strlen(yaml), 0, &err);

	cr_assert_eq(rc, 0, "%s", err.text);
}

int graph_check(const struct graph_case *graph, const char *text, struct check_result *result)
{
	struct net net;
	int rc;

	graph_net(&net, graph->yaml);
	rc = fixture_check(text, &net, result);
	net_release(&net);
	return rc;
}

int graph_check_replaced(const struct graph_case *graph, const char *from, int nth, const char *to, struct check_result *result)
{
	char *text = fixture_replace(graph->text, from, nth, to);
	int rc = graph_check(graph, text, result);

	free(text);
	return rc;
}
