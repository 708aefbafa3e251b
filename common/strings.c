// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: strings - names that are kept until something ends
 *
 * A path can be a thousand bytes long and mostly has forty. A string is a chain
 * of blocks of a cache line each, so that there is no fragmentation: most are
 * one block. A chain is taken off the free list, and put back, in one go, under
 * a raw spinlock; what is in it is copied without.
 */
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/string.h>

#include "strings.h"

/* Blocks are numbered from 1 on. */
struct tap_strings_block {
	u32 next;	/* TAP_STRING_NONE: the last one */
	char text[TAP_STRING_BLOCK];
};

static struct tap_strings_block *tap_strings_at(const struct tap_strings *strings,
						u32 id)
{
	return &strings->blocks[id - 1];
}

/* A chain of @n free blocks, or TAP_STRING_NONE. */
static u32 tap_strings_get(struct tap_strings *strings, u32 n)
{
	u32 *link = &strings->first;
	unsigned long flags;
	u32 id = TAP_STRING_NONE;

	raw_spin_lock_irqsave(&strings->lock, flags);
	if (n <= strings->nr_free) {
		WRITE_ONCE(strings->nr_free, strings->nr_free - n);
		id = *link;
		while (n--)
			link = &tap_strings_at(strings, *link)->next;
		strings->first = *link;
		*link = TAP_STRING_NONE;
	}
	raw_spin_unlock_irqrestore(&strings->lock, flags);
	return id;
}

u32 tap_strings_put(struct tap_strings *strings, const char *string, size_t len)
{
	u32 n = max_t(u32, DIV_ROUND_UP(len, TAP_STRING_BLOCK), 1);
	u32 id = tap_strings_get(strings, n);
	struct tap_strings_block *block;
	u32 next = id;

	if (id == TAP_STRING_NONE) {
		atomic64_inc(&strings->lost);
		return id;
	}
	while (next != TAP_STRING_NONE) {
		size_t part = min_t(size_t, len, TAP_STRING_BLOCK);

		block = tap_strings_at(strings, next);
		memcpy(block->text, string, part);
		if (part < TAP_STRING_BLOCK)
			block->text[part] = '\0';
		string += part;
		len -= part;
		next = block->next;
	}
	return id;
}

size_t tap_strings_take(struct tap_strings *strings, u32 id, char *buf,
			size_t size)
{
	struct tap_strings_block *block = NULL;
	unsigned long flags;
	size_t len = 0;
	u32 next = id;
	u32 n = 0;

	for (; next != TAP_STRING_NONE; next = block->next) {
		block = tap_strings_at(strings, next);
		n++;
		if (size) {
			size_t part = min(strnlen(block->text, TAP_STRING_BLOCK),
					  size - 1 - len);

			memcpy(buf + len, block->text, part);
			len += part;
		}
	}
	if (size)
		buf[len] = '\0';
	if (n) {
		raw_spin_lock_irqsave(&strings->lock, flags);
		block->next = strings->first;
		strings->first = id;
		WRITE_ONCE(strings->nr_free, strings->nr_free + n);
		raw_spin_unlock_irqrestore(&strings->lock, flags);
	}
	return len;
}

u64 tap_strings_lost(struct tap_strings *strings)
{
	return atomic64_read(&strings->lost);
}

size_t tap_strings_used(const struct tap_strings *strings)
{
	return (size_t)(strings->nr - READ_ONCE(strings->nr_free)) *
	       sizeof(*strings->blocks);
}

int tap_strings_init(struct tap_strings *strings, u32 kb)
{
	u32 i;

	BUILD_BUG_ON(sizeof(struct tap_strings_block) != 64);
	strings->nr = kb * (1024 / sizeof(*strings->blocks));
	strings->blocks = kvcalloc(strings->nr, sizeof(*strings->blocks),
				   GFP_KERNEL);
	if (!strings->blocks)
		return -ENOMEM;
	raw_spin_lock_init(&strings->lock);
	atomic64_set(&strings->lost, 0);
	for (i = 1; i < strings->nr; i++)
		tap_strings_at(strings, i)->next = i + 1;
	strings->first = 1;
	strings->nr_free = strings->nr;
	return 0;
}

void tap_strings_fini(struct tap_strings *strings)
{
	kvfree(strings->blocks);
	strings->blocks = NULL;
}
