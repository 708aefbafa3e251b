/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parts of functioncallcount share. */
#ifndef TAP_FUNCTIONCALLCOUNT_H
#define TAP_FUNCTIONCALLCOUNT_H

#include <linux/ftrace.h>

#include "symbol.h"
#include "tap.h"

/* Beside the key, which is the address where the tracer is called. */
struct functioncallcount_attr {
	u32 rank;		/* in order of names */
	u32 name:24;		/* in @names; 0: the kernel's own, which stay */
	u32 offset:8;		/* of the call from the function's beginning */
};

/**
 * struct functioncallcount_function - a function that is counted
 * @ip: where the tracer is called
 * @name: its name in the set's @names; and after that its module's
 * @offset: of @ip from its beginning
 */
struct functioncallcount_function {
	unsigned long ip;
	u32 name;
	u8 offset;
};

/**
 * struct functioncallcount_set - the functions that are counted
 * @text: parameter functions
 * @force: parameter force
 * @ops: has them in its filter
 * @functions: in order of names; until they have rows
 * @nr: how many there are
 * @skipped: how many of the list could not be found or traced
 * @names: the names of those of modules, which may be gone when somebody reads;
 *         and before they have rows, of all. One NUL at first
 * @fresh: no module can have gone since it was made
 *
 * Made at load, and the same from then on.
 */
struct functioncallcount_set {
	char *text;
	bool force;
	struct ftrace_ops ops;
	struct functioncallcount_function *functions;
	u32 nr;
	u32 skipped;
	struct tap_text names;
	bool fresh;
};

#define FUNCTIONCALLCOUNT_COLUMNS 5

extern struct tap_tool functioncallcount;
extern struct functioncallcount_set functioncallcount_set;
extern const struct tap_column functioncallcount_columns[FUNCTIONCALLCOUNT_COLUMNS];
/* Says what is allowed in the parameter `functions`. */
extern const char functioncallcount_allowed[];

/* Is this text of the parameter `functions` well-formed? 0 or -EINVAL. */
int functioncallcount_check(const char *text, struct tap_text *why);

/* Make the set from its text. An error, and a line at @why. May sleep. */
int functioncallcount_set_init(struct functioncallcount_set *set,
			       struct tap_text *why);

/* Free it; @ops is not registered. May sleep. */
void functioncallcount_set_fini(struct functioncallcount_set *set);

/* Functions have rows: the names of the kernel's own need not be kept. */
int functioncallcount_set_shrink(struct functioncallcount_set *set);

/*
 * Before the set is hooked again: a module of it may have gone meanwhile, and
 * another one be where it was. Only what @stays says stays is left. An error,
 * and a line at @why. May sleep.
 */
int functioncallcount_set_again(struct functioncallcount_set *set,
				bool (*stays)(unsigned long ip),
				struct tap_text *why);

/* Hook the set, and unhook it; as a tool's @prepare and @end. */
int functioncallcount_prepare(struct tap_tool *tool, struct tap_text *why);
void functioncallcount_end(struct tap_tool *tool);

/* Calls that were not counted, since RCU did not watch. */
unsigned long functioncallcount_unwatched(void);

/* As a tool's @header, @show and @stats. */
void functioncallcount_header(struct tap_text *text,
			      const struct tap_snapshot *snapshot);
void functioncallcount_show(struct tap_text *text, const struct tap_row *row,
			    const struct tap_snapshot *snapshot);
void functioncallcount_stats(struct tap_tool *tool, struct tap_text *text);

#endif /* TAP_FUNCTIONCALLCOUNT_H */
