// SPDX-License-Identifier: Apache-2.0
//
// Networks by file and by name.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/net/builtin.h"
#include "driver/net/net.h"
#include "driver/net/read.h"

enum { FILE_MAX_BYTES = 1 << 20 };

static int read_file(struct net *net, const char *path, int image, struct wc_error *err)
{
	FILE *file = fopen(path, "rb");
	char *text;
	size_t bytes;
	int rc;

	memset(net, 0, sizeof(*net));
	if (!file)
		return wc_fail(err, WC_ERR_INPUT, "cannot open network file '%s': %m", path);
	text = malloc(FILE_MAX_BYTES + 1);
	if (!text) {
		fclose(file);
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory");
	}
	bytes = fread(text, 1, FILE_MAX_BYTES + 1, file);
	if (ferror(file))
		rc = wc_fail(err, WC_ERR_INPUT, "cannot read network file '%s': %m", path);
	else if (bytes > FILE_MAX_BYTES)
		rc = wc_fail(err, WC_ERR_INPUT, "network file '%s' is larger than %d bytes", path, FILE_MAX_BYTES);
	else
		rc = net_parse(net, path, text, bytes, image, err);
	free(text);
	fclose(file);
	return rc;
}

static int make_builtin(struct net *net, const char *name, int image, struct wc_error *err)
{
	const struct net_builtin *builtin = net_builtin_find(name);
	char known[300] = "";

	memset(net, 0, sizeof(*net));
	if (builtin)
		return net_builtin_make(net, builtin, image, err);
	for (size_t i = 0; (builtin = net_builtin_at(i)); i++)
		snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s%s", i ? ", " : "", builtin->name);
	return wc_fail(err, WC_ERR_INPUT, "no built-in network '%.100s'; there are: %s", name, known);
}

int net_read(struct net *net, const char *path, struct wc_error *err)
{
	return read_file(net, path, 0, err);
}

int net_builtin(struct net *net, const char *name, struct wc_error *err)
{
	return make_builtin(net, name, 0, err);
}

int net_open(struct net *net, const char *name, int image, struct wc_error *err)
{
	FILE *file;

	memset(net, 0, sizeof(*net));
	if (image < 0 || image > NET_IMAGE_MAX)
		return wc_fail(err, WC_ERR_INPUT, "image is %d, must be from 1 to %d pixels high and wide, or 0 for the network's own size",
			       image, NET_IMAGE_MAX);
	if (net_builtin_find(name))
		return make_builtin(net, name, image, err);
	file = fopen(name, "rb");
	if (!file) {
		struct wc_error builtin = { "" };
		const char *cause = strerror(errno);

		net_builtin(net, name, &builtin);
		return wc_fail(err, WC_ERR_INPUT, "%.400s; and it cannot be opened as a file: %s", builtin.text, cause);
	}
	fclose(file);
	return read_file(net, name, image, err);
}
