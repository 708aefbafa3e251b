/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TAP_SYMBOL_H
#define TAP_SYMBOL_H

#include <linux/module.h>

/**
 * struct tap_symbol - a place in the kernel's code
 * @name: of the function, cut if it is longer; (unknown) if there is none
 * @offset: from its beginning, hexadecimal
 * @module: it lies in; empty for the kernel itself
 */
struct tap_symbol {
	char name[96];
	char offset[16];
	char module[MODULE_NAME_LEN];
};

/**
 * tap_symbol_set() - look a place up
 * @symbol: what to fill in, all zero before
 * @address: the place
 *
 * Takes no lock. It is a search through the symbols of the kernel or a module,
 * so it is for the first event of a place and not for each. Two CPUs may look
 * the same place up for the same symbol at the same time: each byte has one
 * value from the first that writes it on.
 *
 * Context: any, while the code cannot go away: in a handler that it called, or
 * with a reference to its module.
 */
void tap_symbol_set(struct tap_symbol *symbol, unsigned long address);

#endif /* TAP_SYMBOL_H */
