// SPDX-License-Identifier: Apache-2.0
//
// See common.h.
#include "tests/plan/common.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/net_text.h"
#include "tests/plan_own.h"
#include "tests/seed.h"

struct random random_begin(const char *test, uint64_t seed)
{
	struct random random = { tests_seed(test, seed) };

	if (!random.state)
		random.state = 1;
	return random;
}

int random_below(struct random *random, int limit)
{
	random->state ^= random->state >> 12;
	random->state ^= random->state << 25;
	random->state ^= random->state >> 27;
	return (int)((random->state * 0x2545f4914f6cdd1dULL >> 33) % (uint64_t)limit);
}

int rounds(int quick, int thorough)
{
	return getenv("WC_LONG") ? thorough : quick;
}

void common_random_net(struct net *net, struct random *random)
{
	int size[2] = { 1 + random_below(random, 20), 1 + random_below(random, 12) }, layers = 1 + random_below(random, 6);
	char yaml[4096], *end = yaml + sizeof(yaml), *at = yaml;

	if (!random_below(random, 8))
		size[0] = size[1] = 1;
	at += snprintf(at, (size_t)(end - at), "name: random\ninput: {height: %d, width: %d, channels: %d}\nnodes:\n", size[0], size[1],
		       1 + random_below(random, 9));
	for (int i = 1; i <= layers; i++) {
		int kernel[2], stride[2], pad[2], dilation[2];

		for (int j = 0; j < 2; j++) {
			do {
				kernel[j] = 1 + random_below(random, random_below(random, 6) ? 4 : 11);
				stride[j] = 1 + random_below(random, random_below(random, 3) ? 2 : 4);
				dilation[j] = random_below(random, 5) ? 1 : 1 + random_below(random, 3);
				pad[j] = random_below(random, 3) ? dilation[j] * (kernel[j] - 1) / 2
								 : random_below(random, dilation[j] * (kernel[j] - 1) + 1);
			} while (size[j] + 2 * pad[j] < dilation[j] * (kernel[j] - 1) + 1);
			size[j] = (size[j] + 2 * pad[j] - dilation[j] * (kernel[j] - 1) - 1) / stride[j] + 1;
		}
		at += snprintf(at, (size_t)(end - at),
			       "  - {name: c%d, op: conv, channels: %d, kernel: [%d, %d], stride: [%d, %d], pad: [%d, %d], dilation: [%d, %d]}\n", i,
			       1 + random_below(random, random_below(random, 4) ? 12 : 40), kernel[0], kernel[1], stride[0], stride[1], pad[0],
			       pad[1], dilation[0], dilation[1]);
		for (int relus = random_below(random, 4); relus > 1; relus--)
			at += snprintf(at, (size_t)(end - at), "  - {name: r%d_%d, op: relu}\n", i, relus);
	}
	tests_net(net, yaml);
}

// One group, some, or, if the numbers of channels allow it, one for each channel of the input.
static int random_groups(struct random *random, int channels, int before)
{
	switch (random_below(random, 4)) {
	case 0:
		return 2;
	case 1:
		return 4;
	case 2:
		return channels % before ? 1 : before;
	default:
		return 1;
	}
}

void common_random_graph(struct net *net, struct random *random)
{
	static const char *const kinds[] = { "relu", "relu", "gn", "gn", "pool", "average", "none" };
	char yaml[8192], *end = yaml + sizeof(yaml), *at = yaml;
	int size = 8 + random_below(random, 24), channels = 4, before = 0; // of the image 3, which no group divides

	at += snprintf(at, (size_t)(end - at), "name: graph\ninput: {height: %d, width: 6, channels: 3}\nnodes:\n", size);
	for (int i = 1, blocks = 1 + random_below(random, 6); i <= blocks; i++) {
		const int kernel = 1 + 2 * random_below(random, 3), stride = kernel > 1 && size > 10 && !random_below(random, 3) ? 2 : 1;
		const char *kind = kinds[random_below(random, 7)];

		channels = 4 * (1 + random_below(random, 4));
		at += snprintf(at, (size_t)(end - at),
			       "  - {name: c%d, op: conv, channels: %d, kernel: [%d, 1], stride: [%d, 1], pad: [%d, 0], bias: %s, groups: %d}\n", i, channels, kernel,
			       stride, kernel / 2, random_below(random, 2) ? "true" : "false", before ? random_groups(random, channels, before) : 1);
		before = channels;
		size = (size + 2 * (kernel / 2) - kernel) / stride + 1;
		if (!strcmp(kind, "gn"))
			at += snprintf(at, (size_t)(end - at), "  - {name: n%d, op: gn, group_channels: 4}\n", i);
		if (!strcmp(kind, "gn") || !strcmp(kind, "relu"))
			at += snprintf(at, (size_t)(end - at), "  - {name: r%d, op: relu}\n", i);
		if ((!strcmp(kind, "pool") || !strcmp(kind, "average")) && size > 4) {
			const int overlaps = random_below(random, 2);

			at += snprintf(at, (size_t)(end - at), "  - {name: p%d, op: %s, kernel: [%d, 1], stride: [2, 1], pad: [%d, 0]}\n", i,
				       *kind == 'p' ? "max_pool" : "avg_pool", 2 + overlaps, overlaps);
			size = (size + 2 * overlaps - 2 - overlaps) / 2 + 1;
		}
		if (random_below(random, 3))
			continue;
		// Two readers, whose outputs are joined.
		at += snprintf(at, (size_t)(end - at), "  - {name: k%d, op: conv, channels: %d, kernel: [1, 1]}\n", i, channels);
		at += snprintf(at, (size_t)(end - at), "  - {name: a%d, op: conv, input: k%d, channels: %d, kernel: [3, 1], pad: [1, 0], groups: %d}\n", i, i,
			       channels, random_groups(random, channels, channels));
		before = random_below(random, 2) ? channels : 2 * channels;
		at += snprintf(at, (size_t)(end - at), "  - {name: j%d, op: %s, inputs: [a%d, k%d]}\n", i, before == channels ? "add" : "concat", i, i);
	}
	at += snprintf(at, (size_t)(end - at), "  - {name: mean, op: global_pool}\n  - {name: fc, op: fc, units: 5}\n  - {name: loss, op: loss}\n");
	tests_net(net, yaml);
}

struct plan_options common_options(int batch, uint32_t buffer_bytes)
{
	return (struct plan_options){
		.batch = batch, .cores = 1, .rows = 16, .cols = 16, .acc_rows = 256, .buffer_bytes = buffer_bytes, .bus_bytes = 16,
	};
}

void common_plan(struct schedule *schedule, const char *planner, const struct net *net, const struct plan_options *options)
{
	struct wc_error err = { "" };

	cr_assert_eq(plan_own(schedule, planner, net, options, &err), 0, "%s: %s", planner, err.text);
	cr_assert_eq(err.text[0], 0);
}

char *common_write(const struct schedule *schedule, const struct net *net)
{
	struct wc_error err = { "" };
	char *text;
	size_t bytes;
	FILE *file = open_memstream(&text, &bytes);

	cr_assert_not_null(file);
	cr_assert_eq(schedule_write(schedule, net, file, &err), 0, "%s", err.text);
	fclose(file);
	return text;
}

int common_read(struct schedule *schedule, const struct net *net, const char *text, size_t bytes, struct wc_error *err)
{
	FILE *file = bytes ? fmemopen((void *)text, bytes, "r") : fopen("/dev/null", "r");
	int rc;

	cr_assert_not_null(file);
	err->text[0] = 0;
	rc = schedule_read(schedule, net, file, "s.txt", err);
	fclose(file);
	return rc;
}
