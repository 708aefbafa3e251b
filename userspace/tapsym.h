/* SPDX-License-Identifier: GPL-2.0-only */
/* What the subcommands of tapsym share. */
#ifndef TAPSYM_H
#define TAPSYM_H

#include <stddef.h>
#include <stdint.h>

/* A function of the running kernel, where it begins. */
struct symbol {
	uint64_t address;
	const char *name;
	const char *module;	/* "" for the kernel itself */
};

/* Those of /proc/kallsyms, by address; of several names the one the kernel prints. */
struct symbols {
	struct symbol *symbol;
	size_t nr;
	uint64_t text;		/* where the kernel itself begins: _text */
};

extern const char *tapsym_debug;	/* -d: the file with debug information */

/* The path of a file of the system: below $TAP_ROOT, which is for tests. */
char *tapsym_path(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Read them once; ends the program if the kernel does not tell. */
const struct symbols *tapsym_symbols(void);

/* The one that begins there, or NULL. */
const struct symbol *tapsym_symbol(uint64_t address);

/* Subcommands; what main() returns. */
int tapsym_functions(int argc, char **argv);

#endif /* TAPSYM_H */
