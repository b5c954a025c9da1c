// SPDX-License-Identifier: Apache-2.0
//
// Convolutions and fully connected layers: weights and sums in slices, GEMM tiles, and the classes of pixels of a strided gradient.
#include "driver/plan/account_internal.h"

static int slice_channels(const struct net_node *node, struct sched_policy policy)
{
	return policy.resident || !policy.slice ? node->out.channels : policy.slice;
}

// One pass over some rows of the kernel of a convolution's weights.
static void count_kernel_rows(struct count *count, bool write, const struct net_node *node, int slice, int element_bytes, struct rows taps)
{
	const uint64_t row = (uint64_t)(net_conv_weights(node) / node->out.channels / node->conv.kernel_h);
	const uint64_t filter = row * (uint64_t)rows_count(taps) * (uint64_t)element_bytes;

	for (int lo = 0; lo < node->out.channels; lo += slice) {
		int channels = lo + slice < node->out.channels ? slice : node->out.channels - lo;

		account_add(count, write, element_bytes == 2 ? WC_CLASS_WEIGHT : WC_CLASS_WEIGHT_GRADIENT,
			    round_up(filter * (uint64_t)channels, count->schedule->bus_bytes), filter * (uint64_t)channels);
	}
}

// One pass over all its weights (2 bytes an element) or weight gradients (4).
static void count_weights(struct count *count, bool write, const struct net_node *node, int slice, int element_bytes)
{
	count_kernel_rows(count, write, node, slice, element_bytes, (struct rows){ 0, node->conv.kernel_h });
}

// GEMM commands of m x n results in each of some groups.
static void count_tiles(struct count *count, int groups, int64_t m, int64_t n)
{
	count->account->commands += count->times * (uint64_t)groups * (uint64_t)div_up(m, count->acc_rows) * (uint64_t)div_up(n, count->schedule->cols);
}

// Groups in a slice of output channels. Of one group a slice may be a part, of several it has whole ones.
static int slice_groups(const struct net_node *node, int channels)
{
	return node->conv.groups == 1 ? 1 : channels / (node->out.channels / node->conv.groups);
}

// A convolution's bias passes with each slice of its filters, its gradient with each slice of the sums.
static void count_bias(struct count *count, bool write, const struct net_node *node, int slice, int element_bytes)
{
	for (int lo = 0; node->bias && lo < node->out.channels; lo += slice) {
		const uint64_t channels = (uint64_t)(lo + slice < node->out.channels ? slice : node->out.channels - lo);

		account_add(count, write, element_bytes == 2 ? WC_CLASS_WEIGHT : WC_CLASS_WEIGHT_GRADIENT,
			    round_up(channels * (uint64_t)element_bytes, count->schedule->bus_bytes), channels * (uint64_t)element_bytes);
		account_commands(count, element_bytes == 2);
	}
}

void account_conv(struct count *count, const struct sched_statement *statement)
{
	const struct net_node *node = &count->net->nodes[statement->node];
	const struct sched_policy policy = count->group->weight[statement->node];
	const int slice = slice_channels(node, policy);
	const int64_t pixels = (int64_t)count->samples * (statement->hi - statement->lo) * node->out.width;

	if (!policy.resident) {
		count_weights(count, false, node, slice, 2);
		count_bias(count, false, node, slice, 2);
	}
	for (int lo = 0; lo < node->out.channels; lo += slice) {
		const int channels = lo + slice < node->out.channels ? slice : node->out.channels - lo, groups = slice_groups(node, channels);

		count_tiles(count, groups, pixels, channels / groups);
	}
	count->account->macs += count->times * (uint64_t)(pixels * net_conv_weights(node));
}

// How many of the integers in [lo, hi) leave the remainder `residue`.
static int residues(int lo, int hi, int residue, int modulus)
{
	int first = lo + ((residue - lo) % modulus + modulus) % modulus;

	return first < hi ? (hi - 1 - first) / modulus + 1 : 0;
}

// The data gradient of a convolution or pool, rows lo..hi of its input: pixels of each residue class modulo the stride.
static void count_classes(struct count *count, const struct net_node *node, struct rows rows, bool gemm)
{
	for (int y = 0; y < node->conv.stride_h; y++)
		for (int x = 0; x < node->conv.stride_w; x++) {
			const int64_t pixels = (int64_t)count->samples * residues(rows.lo, rows.hi, y, node->conv.stride_h) *
					       residues(0, node->in.width, x, node->conv.stride_w);

			if (gemm)
				count_tiles(count, node->conv.groups, pixels, node->in.channels / node->conv.groups);
			else
				account_commands(count, pixels > 0);
		}
}

void account_conv_gradient(struct count *count, int index, struct rows rows)
{
	const struct net_node *node = &count->net->nodes[index];
	const int slice = slice_channels(node, count->group->weight[index]);

	if (!count->group->weight[index].resident)
		count_kernel_rows(count, false, node, slice, 2, use_kernel_rows(node, rows, count->schedule->bus_bytes));
	for (int lo = 0; lo < node->out.channels; lo += slice) {
		// Each element of a fully connected layer's input has a sum over the outputs of its own.
		for (int row = rows.lo; node->op == NET_FC && row < rows.hi; row++)
			count_tiles(count, 1, count->samples, (int64_t)node->in.width * node->in.channels);
		if (node->op == NET_CONV)
			count_classes(count, node, rows, true);
	}
	// Sums over slices are rounded behind the last.
	account_commands(count, slice < node->out.channels);
}

void account_accumulate(struct count *count, const struct sched_statement *statement)
{
	const struct net_node *node = &count->net->nodes[statement->node];
	const struct sched_policy policy = count->group->wgrad[statement->node];
	const int slice = slice_channels(node, policy);
	const int64_t vectors = net_conv_weights(node) / node->out.channels;

	if (!policy.resident && !account_is_first_cut(count, statement->node)) {
		count_weights(count, false, node, slice, 4);
		count_bias(count, false, node, slice, 4);
	}
	if (!policy.resident) {
		count_weights(count, true, node, slice, 4);
		count_bias(count, true, node, slice, 4);
	}
	for (int lo = 0; lo < node->out.channels; lo += slice) {
		const int channels = lo + slice < node->out.channels ? slice : node->out.channels - lo, groups = slice_groups(node, channels);

		count_tiles(count, groups, channels / groups, vectors);
		if (node->bias)
			account_commands(count, 1 + div_up(channels, count->acc_rows));
	}
	count->account->macs += count->times * (uint64_t)count->samples * (uint64_t)(statement->hi - statement->lo) *
				(uint64_t)node->out.width * (uint64_t)net_conv_weights(node);
}

void account_pool_gradient(struct count *count, int index, struct rows rows)
{
	count_classes(count, &count->net->nodes[index], rows, false);
}

void account_resident(struct count *count, bool sums, int index)
{
	const struct net_node *node = &count->net->nodes[index];
	const int element_bytes = sums ? 4 : 2;

	if (node->op == NET_GN) {
		account_vectors(count, sums, sums ? WC_CLASS_WEIGHT_GRADIENT : WC_CLASS_WEIGHT, node, element_bytes, 2);
		return;
	}
	count_weights(count, sums, node, node->out.channels, element_bytes);
	count_bias(count, sums, node, node->out.channels, element_bytes);
}
