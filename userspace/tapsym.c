// SPDX-License-Identifier: GPL-2.0-only
/*
 * tapsym - what tools need of programs' and the kernel's symbols, as parameters
 *
 * The modules find symbols of the running kernel by themselves. What only debug
 * information knows, such as the functions of a source file, is found here and
 * handed to insmod.
 */
#define _GNU_SOURCE
#include <err.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tapsym.h"

const char *tapsym_debug;

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *arguments, *what;
} commands[] = {
	{ "functions", tapsym_functions, "PATTERN@FILE...",
	  "functions of the kernel and its modules, by source file" },
	{ .name = NULL }
};

static void help(FILE *to)
{
	const struct command *c;

	fprintf(to, "usage: tapsym [-d FILE] COMMAND ARGUMENTS\n"
		"       tapsym -h | -V\n");
	for (c = commands; c->name; c++)
		fprintf(to, "  %s %s  %s\n", c->name, c->arguments, c->what);
	fprintf(to,
		"  -d FILE  FILE has the debug information (vmlinux, or a module's file)\n"
		"  -h, -V   this text; the version\n"
		"\n"
		"Prints a parameter for insmod:\n"
		"  insmod functioncallcount.ko \"$(tapsym functions '*@mm/*.c')\"\n"
		"  insmod functioncallcount.ko \"$(tapsym functions '*@fs/ext4/*.c' 'vfs_*@fs/read_write.c')\"\n");
}

char *tapsym_path(const char *format, ...)
{
	const char *root = getenv("TAP_ROOT");
	char *path, *whole;
	va_list args;

	va_start(args, format);
	if (vasprintf(&path, format, args) < 0)
		err(1, NULL);
	va_end(args);
	if (!root)
		return path;
	if (asprintf(&whole, "%s%s", root, path) < 0)
		err(1, NULL);
	free(path);
	return whole;
}

/* --- the running kernel's symbols -------------------------------------- */

/* In the order of the file, where addresses are the same: the kernel takes the first. */
static int compare(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

static void add(struct symbols *symbols, uint64_t address, const char *name,
		const char *module)
{
	if (!(symbols->nr & (symbols->nr - 1))) {
		symbols->symbol = reallocarray(symbols->symbol,
					       symbols->nr ? 2 * symbols->nr : 1,
					       sizeof(*symbols->symbol));
		if (!symbols->symbol)
			err(1, NULL);
	}
	symbols->symbol[symbols->nr++] = (struct symbol){
		.address = address, .name = name, .module = module,
	};
}

/* The whole of a file that tells no size. */
static char *contents(const char *path)
{
	FILE *file = fopen(path, "r");
	size_t size = 0;
	char *text = NULL;

	if (!file)
		err(1, "%s", path);
	/* it has no NUL */
	if (getdelim(&text, &size, 0, file) < 0)
		errx(1, "%s is empty", path);
	fclose(file);
	return text;
}

/* ffffffff81000000 T _text, or: ffffffffc0000000 t function	[module] */
static void parse(struct symbols *symbols, char *line)
{
	char *word[4] = { NULL };
	uint64_t address;
	int i;

	for (i = 0; i < 4; i++)
		word[i] = strtok(i ? NULL : line, " \t[]");
	if (!word[2])
		return;
	address = strtoull(word[0], NULL, 16);
	if (!strcmp(word[2], "_text") && !word[3])
		symbols->text = address;
	if (strchr("tTwW", *word[1]))
		add(symbols, address, word[2], word[3] ?: "");
}

static struct symbols read_symbols(void)
{
	char *path = tapsym_path("/proc/kallsyms");
	struct symbols symbols = { .nr = 0 };
	char *text = contents(path);
	size_t i, n = 0;

	while (text) {
		char *line = strsep(&text, "\n");

		parse(&symbols, line);
	}
	if (!symbols.text)
		errx(1, "%s shows no addresses: be root, or sysctl kernel.kptr_restrict=1",
		     path);
	/* names are in the order of the file, since they are in one piece */
	qsort(symbols.symbol, symbols.nr, sizeof(*symbols.symbol), compare);
	for (i = 0; i < symbols.nr; i++)
		if (!n || symbols.symbol[n - 1].address != symbols.symbol[i].address)
			symbols.symbol[n++] = symbols.symbol[i];
	symbols.nr = n;
	free(path);
	return symbols;
}

const struct symbols *tapsym_symbols(void)
{
	static struct symbols symbols;

	if (!symbols.nr)
		symbols = read_symbols();
	return &symbols;
}

static int compare_address(const void *a, const void *b)
{
	const uint64_t *address = a;
	const struct symbol *symbol = b;

	return (*address > symbol->address) - (*address < symbol->address);
}

const struct symbol *tapsym_symbol(uint64_t address)
{
	const struct symbols *symbols = tapsym_symbols();

	return bsearch(&address, symbols->symbol, symbols->nr,
		       sizeof(*symbols->symbol), compare_address);
}

int main(int argc, char **argv)
{
	const struct command *c;
	int opt;

	if (argc == 2 && !strcmp(argv[1], "--help")) {
		help(stdout);
		return 0;
	}
	/* + : what follows COMMAND is its own */
	while ((opt = getopt(argc, argv, "+d:hV")) != -1) {
		switch (opt) {
		case 'd':
			tapsym_debug = optarg;
			break;
		case 'h':
			help(stdout);
			return 0;
		case 'V':
			puts("tapsym " TAP_VERSION);
			return 0;
		default:
			help(stderr);
			return 2;
		}
	}
	argc -= optind;
	argv += optind;
	for (c = commands; argc && c->name; c++)
		if (!strcmp(c->name, argv[0]))
			return c->run(argc - 1, argv + 1);
	if (argc)
		warnx("there is no command %s", argv[0]);
	help(stderr);
	return 2;
}
