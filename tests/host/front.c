// SPDX-License-Identifier: Apache-2.0
#include "front.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES_MAX = 4096 };

struct before {
	struct wc_backend base;
	struct wc_backend_ops ops; // the true one's name and cycles
	struct wc_backend *device;
	struct wc_observer observer;
	struct front *front;
};

static struct before *of(struct wc_backend *backend)
{
	return (struct before *)backend;
}

static int on_row(void *context, const struct wc_tile_row *row)
{
	struct before *before = context;
	struct wc_tile_row changed = *row;
	uint32_t bits[VALUES_MAX] = {0};

	cr_assert_leq(row->count, VALUES_MAX);
	memcpy(bits, row->bits, (size_t)row->count * sizeof(*bits));
	changed.bits = bits;
	before->front->observer = &before->observer;
	if (before->front->row && !before->front->row(before->front, &changed, bits))
		return 0;
	return before->observer.tile_row ? before->observer.tile_row(before->observer.context, &changed) : 0;
}

static int on_probe(void *context, const struct wc_probe *probe)
{
	struct before *before = context;
	struct wc_probe changed = *probe;
	uint32_t bits[VALUES_MAX];

	cr_assert_leq(probe->count, VALUES_MAX);
	memcpy(bits, probe->bits, (size_t)probe->count * sizeof(*bits));
	changed.bits = bits;
	if (before->front->probe)
		before->front->probe(before->front, &changed, bits);
	return before->observer.probe(before->observer.context, &changed);
}

static int on_event(void *context, const struct wc_event *event)
{
	struct before *before = context;
	struct front *front = before->front;

	front->observer = &before->observer;
	if (front->event && !front->event(front, before->device, event)) {
		cr_assert_not(front->is_withheld);
		front->withheld = *event;
		front->is_withheld = true;
		return 0;
	}
	return before->observer.event ? before->observer.event(before->observer.context, event) : 0;
}

int front_pass_on(struct front *front)
{
	cr_assert(front->is_withheld);
	front->is_withheld = false;
	return front->observer->event(front->observer->context, &front->withheld);
}

static int reset(struct wc_backend *backend, uint64_t seed, struct wc_error *err)
{
	return of(backend)->device->ops->reset(of(backend)->device, seed, err);
}

static uint32_t csr_read(struct wc_backend *backend, uint32_t offset)
{
	const uint32_t value = of(backend)->device->ops->csr_read(of(backend)->device, offset);
	struct front *front = of(backend)->front;

	return front->csr ? front->csr(front, offset, value) : value;
}

static void csr_write(struct wc_backend *backend, uint32_t offset, uint32_t value)
{
	of(backend)->device->ops->csr_write(of(backend)->device, offset, value);
}

static int step(struct wc_backend *backend, uint64_t max_cycles, struct wc_error *err)
{
	return of(backend)->device->ops->step(of(backend)->device, max_cycles, err);
}

static void set_observer(struct wc_backend *backend, const struct wc_observer *observer)
{
	struct before *before = of(backend);
	struct wc_observer mine;

	before->observer = observer ? *observer : (struct wc_observer){0};
	mine = before->observer;
	mine.context = before;
	mine.tile_row = on_row;
	mine.event = on_event;
	mine.probe = mine.probe ? on_probe : NULL;
	before->device->ops->set_observer(before->device, &mine);
}

static void set_fault(struct wc_backend *backend, const struct wc_fault *fault)
{
	of(backend)->device->ops->set_fault(of(backend)->device, fault);
}

static uint64_t cycle(struct wc_backend *backend)
{
	return of(backend)->device->ops->cycle(of(backend)->device);
}

static void buffer_read(struct wc_backend *backend, uint32_t address, void *bytes, uint32_t count)
{
	of(backend)->device->ops->buffer_read(of(backend)->device, address, bytes, count);
}

static void buffer_write(struct wc_backend *backend, uint32_t address, const void *bytes, uint32_t count)
{
	of(backend)->device->ops->buffer_write(of(backend)->device, address, bytes, count);
}

static void free_both(struct wc_backend *backend)
{
	wc_backend_free(of(backend)->device);
	free(backend);
}

static struct wc_backend *wrap(void *context, struct wc_backend *device)
{
	struct before *before = calloc(1, sizeof(*before));

	cr_assert(before);
	before->ops = (struct wc_backend_ops){
		.name = device->ops->name,
		.has_cycles = device->ops->has_cycles,
		.reset = reset,
		.csr_read = csr_read,
		.csr_write = csr_write,
		.step = step,
		.set_observer = set_observer,
		.set_fault = set_fault,
		.cycle = cycle,
		.buffer_read = buffer_read,
		.buffer_write = buffer_write,
		.free = free_both,
	};
	before->base = (struct wc_backend){.ops = &before->ops, .params = device->params, .memory = device->memory};
	before->device = device;
	before->front = context;
	return &before->base;
}

void front_put(struct front *front, struct device *device)
{
	device->wrap = wrap;
	device->wrap_context = front;
}
