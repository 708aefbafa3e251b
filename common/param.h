/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TAP_PARAM_H
#define TAP_PARAM_H

#include <linux/moduleparam.h>
#include <linux/types.h>

#include "fmt.h"

struct tap_tool;

/**
 * enum tap_param_type - what a parameter holds
 * @TAP_PARAM_UINT: an unsigned int from @min to @max, or 0 if @zero
 * @TAP_PARAM_BOOL: a bool: 0 or 1
 * @TAP_PARAM_CHOICE: an unsigned int, the index of one of @choices
 * @TAP_PARAM_TEXT: a char pointer, NULL when empty; judged by @check
 */
enum tap_param_type {
	TAP_PARAM_UINT,
	TAP_PARAM_BOOL,
	TAP_PARAM_CHOICE,
	TAP_PARAM_TEXT,
};

/* Longest value, bytes. */
#define TAP_PARAM_MAX (128 << 10)

/**
 * struct tap_param - one setting, of insmod and of debugfs
 * @type: what it holds
 * @value: where it is kept
 * @zero: TAP_PARAM_UINT: 0 is allowed too
 * @load_only: debugfs cannot change it
 * @min: TAP_PARAM_UINT: smallest value
 * @max: TAP_PARAM_UINT: largest value
 * @choices: TAP_PARAM_CHOICE: the words, NULL at the end
 * @check: TAP_PARAM_TEXT: refuses a value, writing to @why what is allowed
 * @apply: called after the value was changed through debugfs, with the tool's
 *         lock held. If it refuses, it has changed nothing and written why, and
 *         the old value comes back. NULL: handlers and readers look at the
 *         value themselves
 */
struct tap_param {
	enum tap_param_type type;
	void *value;
	bool zero;
	bool load_only;
	unsigned int min;
	unsigned int max;
	const char *const *choices;
	int (*check)(const char *text, struct tap_text *why);
	int (*apply)(struct tap_tool *tool, struct tap_text *why);
};

extern const struct kernel_param_ops tap_param_ops;

/**
 * tap_param_set() - read a value and keep it
 * @param: the parameter
 * @name: its name, for the message
 * @val: the text, without a newline at its end
 * @why: gets one line, without newline, that names the parameter, the value and
 *       what is allowed, if the value is refused
 *
 * Context: process context, may sleep; nobody gets the value at the same time.
 * Return: 0; -EINVAL if it is refused, and then nothing has changed; -ENOMEM.
 */
int tap_param_set(const struct tap_param *param, const char *name,
		  const char *val, struct tap_text *why);

/**
 * tap_param_get() - write the value as tap_param_set() would read it
 * @param: the parameter
 * @text: where to
 *
 * Context: process context, may sleep; nobody sets the value at the same time.
 */
void tap_param_get(const struct tap_param *param, struct tap_text *text);

/*
 * Declare a parameter of a module. It is set with insmod, and unless it is
 * load-only through a file of its name in debugfs; /sys/module shows it.
 */
#define TAP_PARAM(name, description, ...)				\
	static const struct tap_param tap_param_##name = { __VA_ARGS__ };	\
	module_param_cb(name, &tap_param_ops, (void *)&tap_param_##name, 0400);	\
	MODULE_PARM_DESC(name, description)

#endif /* TAP_PARAM_H */
