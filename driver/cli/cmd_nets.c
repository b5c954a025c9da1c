// SPDX-License-Identifier: Apache-2.0
//
// wavecore nets [NET|FILE]: the built-in networks, or one network's layers.
#include <inttypes.h>
#include <jansson.h>

#include "driver/cli/cli.h"
#include "driver/net/builtin.h"

static void print_table(const struct net *net)
{
	printf("%-16s %-6s %-16s %-8s %-6s %-6s %-8s %12s %14s\n", "layer", "op", "output HxWxC", "kernel", "stride", "pad", "dilation", "weights",
	       "MACs/sample");
	for (int i = 0; i < net->node_count; i++) {
		const struct net_node *node = &net->nodes[i];
		char out[64], kernel[32] = "-", stride[32] = "-", pad[32] = "-", dilation[32] = "-";

		snprintf(out, sizeof(out), "%dx%dx%d", node->out.height, node->out.width, node->out.channels);
		if (node->op == NET_CONV) {
			snprintf(kernel, sizeof(kernel), "%dx%d", node->conv.kernel_h, node->conv.kernel_w);
			snprintf(stride, sizeof(stride), "%dx%d", node->conv.stride_h, node->conv.stride_w);
			snprintf(pad, sizeof(pad), "%dx%d", node->conv.pad_h, node->conv.pad_w);
			snprintf(dilation, sizeof(dilation), "%dx%d", node->conv.dilation_h, node->conv.dilation_w);
		}
		printf("%-16s %-6s %-16s %-8s %-6s %-6s %-8s %12" PRId64 " %14" PRId64 "\n", node->name, net_op_name(node->op), out, kernel, stride, pad,
		       dilation, node->op == NET_CONV ? net_conv_weights(node) : 0, node->op == NET_CONV ? net_conv_macs(node) : 0);
	}
	printf("%s: training MACs per sample %" PRId64 "\n", net->name, net_training_macs(net));
}

static void print_json(const struct net *net)
{
	json_t *nodes = json_array();

	for (int i = 0; i < net->node_count; i++) {
		const struct net_node *node = &net->nodes[i];
		json_t *object = json_pack("{s:s, s:s, s:[iii]}", "name", node->name, "op", net_op_name(node->op), "output", node->out.height, node->out.width,
					   node->out.channels);

		if (node->op == NET_CONV) {
			json_object_set_new(object, "kernel", json_pack("[ii]", node->conv.kernel_h, node->conv.kernel_w));
			json_object_set_new(object, "stride", json_pack("[ii]", node->conv.stride_h, node->conv.stride_w));
			json_object_set_new(object, "pad", json_pack("[ii]", node->conv.pad_h, node->conv.pad_w));
			json_object_set_new(object, "dilation", json_pack("[ii]", node->conv.dilation_h, node->conv.dilation_w));
			json_object_set_new(object, "weights", json_integer(net_conv_weights(node)));
			json_object_set_new(object, "macs", json_integer(net_conv_macs(node)));
		}
		json_array_append_new(nodes, object);
	}
	json_t *all = json_pack("{s:s, s:I, s:o}", "net", net->name, "training_macs", (json_int_t)net_training_macs(net), "nodes", nodes);

	json_dumpf(all, stdout, JSON_INDENT(2));
	printf("\n");
	json_decref(all);
}

// The built-in networks' names.
static int list(bool json)
{
	const struct net_builtin *text;
	json_t *names = json_array();

	for (size_t i = 0; (text = net_builtin_at(i)); i++)
		if (json)
			json_array_append_new(names, json_string(text->name));
		else
			printf("%s\n", text->name);
	if (json) {
		json_dumpf(names, stdout, 0);
		printf("\n");
	}
	json_decref(names);
	return CLI_OK;
}

static int run(int argc, const char **argv)
{
	static int json;
	static const struct poptOption table[] = {
		{"json", 0, POPT_ARG_NONE, &json, 0, "print JSON", NULL},
		POPT_TABLEEND,
	};
	const char *name;
	struct wc_error err;
	struct net net;
	int status = cli_parse(&cli_nets, argc, argv, table, &name, 0, 1), result;

	if (status >= 0)
		return status;
	if (!name)
		return list(json);
	result = net_open(&net, name, 0, &err);
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
