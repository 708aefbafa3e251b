// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: symbol - the names of places in the kernel's code
 *
 * A name is looked up when a place is first seen. Later, when somebody reads,
 * the module may be gone and another one be where it was. An address that has
 * no symbol (of code that was generated, say) becomes (unknown) and not a
 * number: not everybody who may read may know where the kernel is.
 */
#include <linux/kernel.h>
#include <linux/string.h>

#include "symbol.h"

void tap_symbol_set(struct tap_symbol *symbol, unsigned long address)
{
	const char *name, *offset, *module;
	char text[256];	/* room for a name that is much too long */
	char *rest = text;

	/* name+offset/size [module], or the bare address */
	snprintf(text, sizeof(text), "%pS", (void *)address);
	name = strsep(&rest, "+");
	offset = strsep(&rest, "/");
	strsep(&rest, "[");
	module = strsep(&rest, "]");
	strscpy(symbol->name, strstarts(name, "0x") ? "(unknown)" : name,
		sizeof(symbol->name));
	strscpy(symbol->offset, offset ?: "", sizeof(symbol->offset));
	strscpy(symbol->module, module ?: "", sizeof(symbol->module));
}
