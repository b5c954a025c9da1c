// SPDX-License-Identifier: Apache-2.0
//
// From plain integers to a command's fields. What does not fit would be another number without a word, so it must not come here: the lowering has
// refused it (lower_check).
#ifndef WC_FIELD_H
#define WC_FIELD_H

#include <assert.h>
#include <stdint.h>

static inline uint8_t field_u8(int64_t value)
{
	assert(value >= 0 && value <= UINT8_MAX);
	return (uint8_t)value;
}

static inline uint16_t field_u16(int64_t value)
{
	assert(value >= 0 && value <= UINT16_MAX);
	return (uint16_t)value;
}

static inline int16_t field_i16(int64_t value)
{
	assert(value >= INT16_MIN && value <= INT16_MAX);
	return (int16_t)value;
}

static inline uint32_t field_u32(int64_t value)
{
	assert(value >= 0 && value <= UINT32_MAX);
	return (uint32_t)value;
}

// The device adds addresses and their differences modulo 2^32, in which every place of the buffer is unique. So a first row outside of the
// image, and the difference of a step that no walk takes, may be any number.
static inline uint32_t field_address(int64_t value)
{
	return (uint32_t)value;
}

static inline int32_t field_difference(int64_t value)
{
	return (int32_t)value;
}

#endif
