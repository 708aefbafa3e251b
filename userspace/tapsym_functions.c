// SPDX-License-Identifier: GPL-2.0-only
/*
 * tapsym functions: those of the kernel that stand in a source file
 *
 * Debug information knows the file of each function; the running kernel knows
 * where it is now, and what it calls it. A copy that the compiler inlined is no
 * function. What the function tracer cannot hook is left out, if it says.
 */
#define _GNU_SOURCE
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "tapsym.h"

/* What the kernel, and one argument of a program, can be. */
#define MAX_PARAMETER (128 * 1024 - 1)

struct pattern {
	const char *function;
	const char *file;
	bool found;
};

static struct pattern *patterns;
static int nr_patterns;

/* What has been found, by address. */
static const struct symbol **found;
static size_t nr_found;

/* Names that the function tracer can hook, sorted; none: it does not say. */
static char **traceable;
static size_t nr_traceable;

/* --- what the function tracer can hook --------------------------------- */

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static FILE *open_traceable(void)
{
	static const char *const places[] = {
		"/sys/kernel/tracing/available_filter_functions",
		"/sys/kernel/debug/tracing/available_filter_functions",
	};
	FILE *file = NULL;
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(*places) && !file; i++) {
		char *path = tapsym_path("%s", places[i]);

		file = fopen(path, "r");
		free(path);
	}
	return file;
}

static void read_traceable(void)
{
	FILE *file = open_traceable();
	char *line = NULL, *name;
	size_t size = 0;

	if (!file)
		return;
	while (getline(&line, &size, file) > 0) {
		if (!(nr_traceable & (nr_traceable - 1)))
			traceable = reallocarray(traceable, nr_traceable ? 2 * nr_traceable : 1,
						 sizeof(*traceable));
		line[strcspn(line, " \t\n")] = '\0';
		name = strdup(line);
		if (!traceable || !name)
			err(1, NULL);
		traceable[nr_traceable++] = name;
	}
	free(line);
	fclose(file);
	qsort(traceable, nr_traceable, sizeof(*traceable), compare_names);
}

static bool is_traceable(const char *name)
{
	return !nr_traceable || bsearch(&name, traceable, nr_traceable,
					sizeof(*traceable), compare_names);
}

/* --- debug information ------------------------------------------------- */

/* A path matches with any number of its first folders left out. */
static bool file_matches(const char *pattern, const char *path)
{
	while (fnmatch(pattern, path, FNM_PATHNAME)) {
		path = strchr(path, '/');
		if (!path)
			return false;
		path++;
	}
	return true;
}

static bool is_wanted(const char *function, const char *file)
{
	bool wanted = false;
	int i;

	for (i = 0; i < nr_patterns; i++) {
		if (fnmatch(patterns[i].function, function, 0) ||
		    !file_matches(patterns[i].file, file))
			continue;
		patterns[i].found = true;
		wanted = true;
	}
	return wanted;
}

/* A section of a loaded module; 0 if it has none of that name. */
static uint64_t section(const char *module, const char *name)
{
	char *path = tapsym_path("/sys/module/%s/sections/%s", module, name);
	FILE *file = fopen(path, "r");
	uint64_t address = 0;

	if (file && fscanf(file, "%" SCNx64, &address) != 1)
		address = 0;
	if (file)
		fclose(file);
	free(path);
	return address;
}

/* What is being read: the kernel if @name is empty, else this module. */
struct object {
	Dwfl_Module *module;
	const char *name;
	uint64_t slide;		/* of the kernel, from where it was linked to */
};

/* Where an address of the file is in the running kernel; 0: nowhere. */
static uint64_t running(const struct object *object, Dwarf_Addr address)
{
	const char *name;
	uint64_t begin;
	int index;

	if (!*object->name)
		return address + object->slide;
	index = dwfl_module_relocate_address(object->module, &address);
	if (index < 0)
		return 0;
	name = dwfl_module_relocation_info(object->module, index, NULL);
	begin = name ? section(object->name, name) : 0;
	return begin ? begin + address : 0;
}

static int see_function(Dwarf_Die *die, void *data)
{
	const struct object *object = data;
	const char *name = dwarf_diename(die), *file = dwarf_decl_file(die);
	const struct symbol *symbol;
	Dwarf_Addr address, bias;

	dwfl_module_getdwarf(object->module, &bias);
	if (!name || !file || dwarf_entrypc(die, &address))
		return DWARF_CB_OK;
	address = running(object, address + bias);
	symbol = address ? tapsym_symbol(address) : NULL;
	if (!symbol || !is_traceable(symbol->name) || !is_wanted(name, file))
		return DWARF_CB_OK;
	if (!(nr_found & (nr_found - 1))) {
		found = reallocarray(found, nr_found ? 2 * nr_found : 1, sizeof(*found));
		if (!found)
			err(1, NULL);
	}
	found[nr_found++] = symbol;
	return DWARF_CB_OK;
}

/* Which module a file is of: by its name, which has _ for - as the kernel has. */
static char *module_name(const char *path)
{
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	const char *end = strstr(base, ".ko");
	char *name, *c;

	name = end ? strndup(base, end - base) : strdup("");
	if (!name)
		err(1, NULL);
	for (c = name; *c; c++)
		if (*c == '-')
			*c = '_';
	return name;
}

/* Where the file has _text, which is where the running kernel's is known to be. */
static uint64_t linked_at(Dwfl_Module *module)
{
	int i, nr = dwfl_module_getsymtab(module);
	GElf_Sym sym;

	for (i = 0; i < nr; i++) {
		const char *name = dwfl_module_getsym(module, i, &sym, NULL);

		if (name && !strcmp(name, "_text"))
			return sym.st_value;
	}
	return 0;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

/* Look at all functions of a file; false if it has no debug information. */
static bool read_object(const char *path)
{
	struct object object = { .name = module_name(path) };
	Dwfl *dwfl = dwfl_begin(&callbacks);
	Dwarf_Die *cu = NULL;
	bool has = false;
	Dwarf_Addr bias;

	if (!dwfl)
		errx(1, "libdw: %s", dwfl_errmsg(-1));
	dwfl_report_begin(dwfl);
	object.module = dwfl_report_offline(dwfl, path, path, -1);
	if (!object.module)
		errx(1, "%s: %s", path, dwfl_errmsg(-1));
	dwfl_report_end(dwfl, NULL, NULL);
	if (!*object.name) {
		uint64_t text = linked_at(object.module);

		if (!text)
			errx(1, "%s has no symbol _text: it is no kernel", path);
		object.slide = tapsym_symbols()->text - text;
	}
	while ((cu = dwfl_module_nextcu(object.module, cu, &bias))) {
		has = true;
		dwarf_getfuncs(cu, see_function, &object, 0);
	}
	dwfl_end(dwfl);
	free((char *)object.name);
	return has;
}

/* The files of packages: the kernel's, and those of the modules that are loaded. */
static bool read_installed(const char *release)
{
	char *path = tapsym_path("/usr/lib/debug/boot/vmlinux-%s", release);
	bool has = !access(path, R_OK) && read_object(path);
	char *list, *line = NULL;
	size_t size = 0;
	FILE *file;

	free(path);
	if (!has) {
		path = tapsym_path("/usr/lib/debug/lib/modules/%s/vmlinux", release);
		has = !access(path, R_OK) && read_object(path);
		free(path);
	}
	list = tapsym_path("/lib/modules/%s/modules.dep", release);
	file = has ? fopen(list, "r") : NULL;
	/* kernel/fs/ext4/ext4.ko: what it needs */
	while (file && getline(&line, &size, file) > 0) {
		char *name, *state;

		line[strcspn(line, ":")] = '\0';
		if (strstr(line, ".ko"))
			strstr(line, ".ko")[3] = '\0';
		name = module_name(line);
		state = tapsym_path("/sys/module/%s/sections", name);
		path = tapsym_path("/usr/lib/debug/lib/modules/%s/%s.debug", release, line);
		if (access(path, R_OK)) {
			free(path);
			path = tapsym_path("/usr/lib/debug/lib/modules/%s/%s", release, line);
		}
		if (!access(state, R_OK) && !access(path, R_OK))
			read_object(path);
		free(path);
		free(state);
		free(name);
	}
	if (file)
		fclose(file);
	free(line);
	free(list);
	return has;
}

/* --- the parameter ----------------------------------------------------- */

static int compare_found(const void *a, const void *b)
{
	const struct symbol *x = *(const struct symbol *const *)a;
	const struct symbol *y = *(const struct symbol *const *)b;

	return (x->address > y->address) - (x->address < y->address);
}

/* functions=NAME@ADDRESS,NAME@+DISTANCE,... */
static int print(void)
{
	uint64_t last = 0;
	size_t i, size;
	char *text;
	FILE *to;

	qsort(found, nr_found, sizeof(*found), compare_found);
	to = open_memstream(&text, &size);
	if (!to)
		err(1, NULL);
	fputs("functions=", to);
	for (i = 0; i < nr_found; i++) {
		if (found[i]->address == last)
			continue;
		fprintf(to, last ? ",%s@+%" PRIx64 : "%s@%" PRIx64, found[i]->name,
			found[i]->address - last);
		last = found[i]->address;
	}
	if (fclose(to))
		err(1, NULL);
	if (size > MAX_PARAMETER)
		errx(1, "these are %zu functions, too many for a parameter: choose %s", nr_found,
		     "fewer files, or patterns of names, as functions='vfs_*,tcp_*'");
	puts(text);
	free(text);
	return fflush(stdout) ? 1 : 0;
}

static void no_debug_information(const char *release)
{
	errx(1, "there is no debug information of kernel %s: apt install linux-image-%s-dbg%s",
	     release, release,
	     ", or use patterns of names, which need none: functions='vfs_*,tcp_*'");
}

int tapsym_functions(int argc, char **argv)
{
	struct utsname kernel;
	int i;

	if (!argc)
		errx(2, "usage: tapsym functions PATTERN@FILE..., as '*@mm/*.c'");
	patterns = calloc(argc, sizeof(*patterns));
	if (!patterns || uname(&kernel))
		err(1, NULL);
	for (i = 0; i < argc; i++) {
		char *at = strchr(argv[i], '@');

		if (!at || at == argv[i] || !at[1])
			errx(2, "%s is no PATTERN@FILE, as '*@mm/*.c' is", argv[i]);
		*at = '\0';
		patterns[i].function = argv[i];
		patterns[i].file = at + 1;
	}
	nr_patterns = argc;
	read_traceable();
	if (tapsym_debug ? !read_object(tapsym_debug) : !read_installed(kernel.release)) {
		if (tapsym_debug)
			errx(1, "%s has no debug information", tapsym_debug);
		no_debug_information(kernel.release);
	}
	for (i = 0; i < argc; i++)
		if (!patterns[i].found)
			warnx("%s@%s: no function of the running kernel that can be traced",
			      patterns[i].function, patterns[i].file);
	if (!nr_found)
		return 1;
	return print();
}
