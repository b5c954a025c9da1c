// SPDX-License-Identifier: Apache-2.0
//
// The process's instances of the array macro. An id, not a pointer, is what the model holds, so that a model restored
// from a checkpoint in another process still names its array.
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "csim/array/half.h"
#include "csim/array/state.h"
#include "traces/splitmix.h"

static struct array_macro *instances[ARRAY_MACRO_MAX];
static uint64_t births[ARRAY_MACRO_MAX]; // when each was registered; ids are used again, so they do not tell the age
static uint64_t births_count;
static uint64_t seed;

// Head of a saved file; the number is the version of what follows.
static const char magic[8] = "wcarray1";

void array_macro_seed(uint64_t value)
{
	seed = value;
}

// Weight registers have no reset: give them bits that depend on the seed and the name alone.
static void scramble_weights(struct array_macro *m)
{
	uint64_t state = seed;
	size_t count = (size_t)m->head.rows * (size_t)m->head.cols;

	for (const char *p = m->head.name; *p; p++)
		state = splitmix_next(&state) ^ (unsigned char)*p;
	for (size_t i = 0; i < count; i++) {
		uint64_t bits = splitmix_next(&state);

		m->w[0][i] = array_half_to_float((uint16_t)bits);
		m->w[1][i] = array_half_to_float((uint16_t)(bits >> 16));
	}
}

static bool good_size(int n)
{
	return n >= 4 && n <= 128 && (n & (n - 1)) == 0;
}

static int check_shape(const struct array_head *head, struct wc_error *err)
{
	if (!good_size(head->rows) || !good_size(head->cols))
		return wc_fail(err, WC_ERR_INPUT, "array '%s' of %d x %d: each must be one of 4, 8, 16, 32, 64, 128",
			       head->name, head->rows, head->cols);
	if (head->stages != 1 && head->stages != 2)
		return wc_fail(err, WC_ERR_INPUT, "array '%s' of %d stages per PE: must be 1 or 2", head->name, head->stages);
	return 0;
}

static void destroy(struct array_macro *m)
{
	free(m->arena);
	free(m);
}

static void enter(int id, struct array_macro *m)
{
	instances[id] = m;
	births[id] = ++births_count;
}

// A new instance with the head's shape, not yet registered.
static int make(const struct array_head *head, struct array_macro **out, struct wc_error *err)
{
	int rc = check_shape(head, err);
	struct array_macro *m;

	if (rc)
		return rc;
	m = calloc(1, sizeof(*m));
	if (!m)
		return wc_fail(err, WC_ERR_SYSTEM, "out of memory: array '%s'", head->name);
	m->head = *head;
	rc = array_state_alloc(m, err);
	if (rc) {
		free(m);
		return rc;
	}
	*out = m;
	return 0;
}

int array_macro_create(const char *name, int rows, int cols, int mac_stages, struct wc_error *err)
{
	struct array_head head = {.rows = rows, .cols = cols, .stages = mac_stages, .ring = 4 * cols, .window_row = -1};
	struct array_macro *m;
	int id = 0;
	int rc;

	if (strlen(name) >= sizeof(head.name))
		return wc_fail(err, WC_ERR_INPUT, "array name '%.64s...' has %zu characters, limit %zu", name, strlen(name),
			       sizeof(head.name) - 1);
	memcpy(head.name, name, strlen(name) + 1);
	while (id < ARRAY_MACRO_MAX && instances[id])
		id++;
	if (id == ARRAY_MACRO_MAX)
		return wc_fail(err, WC_ERR_SYSTEM, "array '%s': a process can hold %d arrays", name, ARRAY_MACRO_MAX);
	rc = make(&head, &m, err);
	if (rc)
		return rc;
	scramble_weights(m);
	array_macro_reset(m);
	enter(id, m);
	return id;
}

void array_macro_free(int id)
{
	struct array_macro *m = array_macro_get(id);

	if (!m)
		return;
	instances[id] = NULL;
	destroy(m);
}

struct array_macro *array_macro_get(int id)
{
	return id >= 0 && id < ARRAY_MACRO_MAX ? instances[id] : NULL;
}

// Whether `have` is `name` or ends in `.name`.
static bool is_named(const char *have, const char *name)
{
	size_t length = strlen(name);
	size_t extra;

	if (strlen(have) < length)
		return false;
	extra = strlen(have) - length;
	return strcmp(have + extra, name) == 0 && (extra == 0 || have[extra - 1] == '.');
}

struct array_macro *array_macro_find(const char *name)
{
	struct array_macro *newest = NULL;
	uint64_t birth = 0;

	for (int id = 0; id < ARRAY_MACRO_MAX; id++)
		if (instances[id] && births[id] > birth && is_named(instances[id]->head.name, name)) {
			newest = instances[id];
			birth = births[id];
		}
	return newest;
}

// One record: id, head, arena, CRC-32 of the three.
static uint32_t record_crc(int32_t id, const struct array_macro *m)
{
	uLong crc = crc32(0, (const Bytef *)&id, sizeof(id));

	crc = crc32(crc, (const Bytef *)&m->head, sizeof(m->head));
	return (uint32_t)crc32(crc, m->arena, (uInt)m->arena_bytes);
}

static bool write_record(int32_t id, const struct array_macro *m, FILE *file)
{
	uint32_t crc = record_crc(id, m);

	return fwrite(&id, sizeof(id), 1, file) == 1 && fwrite(&m->head, sizeof(m->head), 1, file) == 1 &&
	       fwrite(m->arena, m->arena_bytes, 1, file) == 1 && fwrite(&crc, sizeof(crc), 1, file) == 1;
}

int array_macro_save_all(FILE *file, struct wc_error *err)
{
	int32_t end = -1;
	bool good = fwrite(magic, sizeof(magic), 1, file) == 1;

	for (int32_t id = 0; id < ARRAY_MACRO_MAX && good; id++)
		if (instances[id])
			good = write_record(id, instances[id], file);
	good = good && fwrite(&end, sizeof(end), 1, file) == 1;
	return good ? 0 : wc_fail(err, WC_ERR_SYSTEM, "cannot write the arrays' state");
}

static int check_head(const struct array_head *head, struct wc_error *err)
{
	int last = head->ring - head->cols - 1;
	int rc;

	if (!memchr(head->name, 0, sizeof(head->name)))
		return wc_fail(err, WC_ERR_INPUT, "array state: a name without end");
	rc = check_shape(head, err);
	if (rc)
		return rc;
	if (head->ring != 4 * head->cols || head->at < 0 || head->at > last || head->load_at < 0 || head->load_at > last ||
	    head->window_row > head->rows - ARRAY_MACRO_WINDOW || head->window_col < 0 ||
	    head->window_col > head->cols - ARRAY_MACRO_WINDOW)
		return wc_fail(err, WC_ERR_INPUT, "array state: '%s' has positions outside its rings", head->name);
	return 0;
}

static int restore_one(int32_t id, FILE *file, struct wc_error *err)
{
	struct array_head head;
	struct array_macro *m;
	struct array_macro *old;
	uint32_t crc;
	int rc;

	if (id < 0 || id >= ARRAY_MACRO_MAX)
		return wc_fail(err, WC_ERR_INPUT, "array state: id %d, limit %d", (int)id, ARRAY_MACRO_MAX - 1);
	if (fread(&head, sizeof(head), 1, file) != 1)
		return wc_fail(err, WC_ERR_INPUT, "array state: file ends inside array %d", (int)id);
	rc = check_head(&head, err);
	if (rc)
		return rc;
	old = instances[id];
	if (old && (strcmp(old->head.name, head.name) != 0 || old->head.rows != head.rows || old->head.cols != head.cols ||
		    old->head.stages != head.stages))
		return wc_fail(err, WC_ERR_INPUT, "array state: id %d is '%.80s' here and '%.80s' in the file", (int)id,
			       old->head.name, head.name);
	rc = make(&head, &m, err);
	if (rc)
		return rc;
	if (fread(m->arena, m->arena_bytes, 1, file) != 1 || fread(&crc, sizeof(crc), 1, file) != 1) {
		destroy(m);
		return wc_fail(err, WC_ERR_INPUT, "array state: file ends inside array '%s'", head.name);
	}
	if (crc != record_crc(id, m)) {
		destroy(m);
		return wc_fail(err, WC_ERR_INPUT, "array state: array '%s' is damaged (CRC %08x in the file)", head.name,
			       (unsigned int)crc);
	}
	array_macro_free(id);
	enter(id, m);
	return 0;
}

int array_macro_restore_all(FILE *file, struct wc_error *err)
{
	char have[sizeof(magic)];
	int32_t id;

	if (fread(have, sizeof(have), 1, file) != 1 || memcmp(have, magic, sizeof(magic)) != 0)
		return wc_fail(err, WC_ERR_INPUT, "array state: does not begin with '%.8s'", magic);
	for (;;) {
		int rc;

		if (fread(&id, sizeof(id), 1, file) != 1)
			return wc_fail(err, WC_ERR_INPUT, "array state: file ends without its end mark");
		if (id == -1)
			return 0;
		rc = restore_one(id, file, err);
		if (rc)
			return rc;
	}
}
