// SPDX-License-Identifier: Apache-2.0
//
// wavecore nets [NET|FILE]: the built-in networks, or one network's layers.
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "driver/cli/cli.h"
#include "driver/net/builtin.h"

struct macs {
	int64_t forward, data_gradient, weight_gradient; // per sample
};

static struct macs macs_of(const struct net *net, int node)
{
	const int64_t forward = net_macs(&net->nodes[node]);

	return (struct macs){forward, net_data_gradient_macs(net, node), forward};
}

static struct macs macs_total(const struct net *net)
{
	struct macs total = {0, 0, 0};

	for (int i = 0; i < net->node_count; i++) {
		const struct macs macs = macs_of(net, i);

		total.forward += macs.forward;
		total.data_gradient += macs.data_gradient;
		total.weight_gradient += macs.weight_gradient;
	}
	return total;
}

static bool has_window(const struct net_node *node)
{
	return node->op == NET_CONV || node->op == NET_MAX_POOL || node->op == NET_AVG_POOL;
}

static void append_pair(char *text, size_t bytes, const char *before, int height, int width)
{
	const size_t used = strlen(text);

	if (height == width)
		snprintf(text + used, bytes - used, "%s%d", before, height);
	else
		snprintf(text + used, bytes - used, "%s%dx%d", before, height, width);
}

// What a node has beside op and shape, e.g. "3x3 s2 p1 g32 bias".
static void describe(const struct net_node *node, char *text, size_t bytes)
{
	const struct net_conv *conv = &node->conv;

	*text = '\0';
	if (has_window(node)) {
		snprintf(text, bytes, "%dx%d", conv->kernel_h, conv->kernel_w);
		append_pair(text, bytes, " s", conv->stride_h, conv->stride_w);
		append_pair(text, bytes, " p", conv->pad_h, conv->pad_w);
		if (conv->dilation_h != 1 || conv->dilation_w != 1)
			append_pair(text, bytes, " d", conv->dilation_h, conv->dilation_w);
		if (conv->groups > 1)
			append_pair(text, bytes, " g", conv->groups, conv->groups);
	} else if (node->op == NET_GN) {
		snprintf(text, bytes, "%d a group", node->group_channels);
	}
	if (node->bias)
		snprintf(text + strlen(text), bytes - strlen(text), "%sbias", *text ? " " : "");
	if (!*text)
		snprintf(text, bytes, "-");
}

static void shape_text(struct net_shape shape, char text[48])
{
	snprintf(text, 48, "%dx%dx%d", shape.height, shape.width, shape.channels);
}

static void print_row(const struct net *net, int index)
{
	const struct net_node *node = &net->nodes[index];
	const struct macs macs = macs_of(net, index);
	char out[48], what[64], module[16] = "-";

	shape_text(node->out, out);
	describe(node, what, sizeof(what));
	if (node->module >= 0)
		snprintf(module, sizeof(module), "%d", node->module);
	printf("%6s  %-24s %-13s %-18s %-15s %10" PRId64 " %12" PRId64 " %12" PRId64 " %12" PRId64 " ", module, node->name,
	       net_op_name(node->op), what, out, net_parameters(node), macs.forward, macs.data_gradient, macs.weight_gradient);
	for (int k = 0; k < node->input_count; k++)
		printf(" %s", net->nodes[node->inputs[k]].name);
	printf(node->input_count ? "\n" : " -\n");
}

static void print_table(const struct net *net)
{
	const struct macs total = macs_total(net);

	printf("%6s  %-24s %-13s %-18s %-15s %10s %12s %12s %12s  %s\n", "module", "node", "op", "window", "output HxWxC", "parameters",
	       "MACs forward", "data grad.", "weight grad.", "inputs");
	for (int i = 0; i < net->node_count; i++)
		print_row(net, i);
	printf("%s: %d nodes, %d modules, %" PRId64 " parameters\n", net->name, net->node_count, net->module_count, net_total_parameters(net));
	printf("%s: MACs per sample: forward %" PRId64 ", data gradient %" PRId64 ", weight gradient %" PRId64 ", training %" PRId64 "\n", net->name,
	       total.forward, total.data_gradient, total.weight_gradient, net_training_macs(net));
}

static json_t *shape_json(struct net_shape shape)
{
	return json_pack("[iii]", shape.height, shape.width, shape.channels);
}

static void set_pair(json_t *object, const char *key, int height, int width)
{
	json_object_set_new(object, key, json_pack("[ii]", height, width));
}

static json_t *node_json(const struct net *net, int index)
{
	const struct net_node *node = &net->nodes[index];
	const struct net_conv *conv = &node->conv;
	const struct macs macs = macs_of(net, index);
	json_t *inputs = json_array(), *object;

	for (int k = 0; k < node->input_count; k++)
		json_array_append_new(inputs, json_string(net->nodes[node->inputs[k]].name));
	object = json_pack("{s:s, s:s, s:o, s:o, s:I, s:I, s:I, s:I, s:o}", "name", node->name, "op", net_op_name(node->op), "inputs", inputs, "output",
			   shape_json(node->out), "parameters", (json_int_t)net_parameters(node), "forward_macs", (json_int_t)macs.forward,
			   "data_gradient_macs", (json_int_t)macs.data_gradient, "weight_gradient_macs", (json_int_t)macs.weight_gradient, "module",
			   node->module < 0 ? json_null() : json_integer(node->module));
	if (has_window(node)) {
		set_pair(object, "kernel", conv->kernel_h, conv->kernel_w);
		set_pair(object, "stride", conv->stride_h, conv->stride_w);
		set_pair(object, "pad", conv->pad_h, conv->pad_w);
	}
	if (node->op == NET_CONV) {
		set_pair(object, "dilation", conv->dilation_h, conv->dilation_w);
		json_object_set_new(object, "groups", json_integer(conv->groups));
	}
	if (node->op == NET_CONV || node->op == NET_FC)
		json_object_set_new(object, "bias", json_boolean(node->bias));
	if (node->op == NET_GN)
		json_object_set_new(object, "group_channels", json_integer(node->group_channels));
	return object;
}

static void dump(json_t *all)
{
	json_dumpf(all, stdout, JSON_INDENT(2));
	printf("\n");
	json_decref(all);
}

static void print_json(const struct net *net)
{
	const struct macs total = macs_total(net);
	json_t *nodes = json_array(), *modules = json_array();

	for (int i = 0; i < net->node_count; i++)
		json_array_append_new(nodes, node_json(net, i));
	for (int i = 0; i < net->module_count; i++)
		json_array_append_new(modules, json_pack("{s:s, s:s}", "first", net->nodes[net->modules[i].first].name, "last",
							 net->nodes[net->modules[i].last].name));
	dump(json_pack("{s:s, s:o, s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "net", net->name, "input", shape_json(net->nodes[0].out), "parameters",
		       (json_int_t)net_total_parameters(net), "forward_macs", (json_int_t)total.forward, "data_gradient_macs",
		       (json_int_t)total.data_gradient, "weight_gradient_macs", (json_int_t)total.weight_gradient, "training_macs",
		       (json_int_t)net_training_macs(net), "modules", modules, "nodes", nodes));
}

static json_t *summary_json(const struct net *net)
{
	return json_pack("{s:s, s:o, s:i, s:i, s:I, s:I, s:I}", "net", net->name, "input", shape_json(net->nodes[0].out), "nodes",
			 net->node_count, "modules", net->module_count, "parameters", (json_int_t)net_total_parameters(net), "forward_macs", (json_int_t)net_forward_macs(net),
			 "training_macs", (json_int_t)net_training_macs(net));
}

static void print_summary(const struct net *net)
{
	char input[48];

	shape_text(net->nodes[0].out, input);
	printf("%-16s %-12s %6d %8d %11" PRId64 " %9.4f\n", net->name, input, net->node_count, net->module_count, net_total_parameters(net),
	       (double)net_forward_macs(net) * 1e-9);
}

// The built-in networks, each at its own size.
static int list(bool json)
{
	const struct net_builtin *builtin;
	json_t *all = json_array();
	struct wc_error err;
	int result = 0;

	if (!json)
		printf("%-16s %-12s %6s %8s %11s %9s\n", "network", "input HxWxC", "nodes", "modules", "parameters", "GMAC/fwd");
	for (size_t i = 0; !result && (builtin = net_builtin_at(i)); i++) {
		struct net net;

		result = net_builtin_make(&net, builtin, 0, &err);
		if (result)
			break;
		if (json)
			json_array_append_new(all, summary_json(&net));
		else
			print_summary(&net);
		net_release(&net);
	}
	if (json && !result)
		dump(json_incref(all));
	json_decref(all);
	return result ? (int)cli_fail(&err, result) : CLI_OK;
}

static int run(int argc, const char **argv)
{
	static int json;
	static char *image_word;
	static const struct poptOption table[] = {
		{"image", 0, POPT_ARG_STRING, &image_word, 0, "height and width of the image (default: the network's own size)", "N"},
		{"json", 0, POPT_ARG_NONE, &json, 0, "print JSON", NULL},
		POPT_TABLEEND,
	};
	const char *name;
	uint64_t image = 0;
	struct wc_error err;
	struct net net;
	int status = cli_parse(&cli_nets, argc, argv, table, &name, 0, 1), result = 0;

	if (status >= 0)
		return status;
	if (image_word && !name)
		return cli_misuse(&cli_nets, "--image: needs a network");
	if (image_word)
		result = cli_number("image", image_word, 1, NET_IMAGE_MAX, &image, &err);
	if (!result && !name)
		return list(json);
	if (!result)
		result = cli_net(&net, name, (int)image, &err);
	if (result)
		return cli_fail(&err, result);
	if (json)
		print_json(&net);
	else
		print_table(&net);
	net_release(&net);
	return CLI_OK;
}

const struct cli_command cli_nets = {"nets", "[NET|FILE]", "list the built-in networks, or one network's layers", run};
