// SPDX-License-Identifier: GPL-2.0-only
/**
 * DOC: param - settings that say no clearly
 *
 * The kernel's own parameter types answer a wrong number with ERANGE here and
 * EINVAL there, and cut a text at 1024 characters. Ours answer EINVAL with one
 * line that names the parameter, the value and what is allowed; the same code
 * serves the files in debugfs.
 */
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "param.h"

/* A value can be 128 KiB, its line in the log need not be. */
#define TAP_PARAM_SHOWN 64

static void tap_param_allowed(const struct tap_param *param, struct tap_text *why)
{
	unsigned int i;

	switch (param->type) {
	case TAP_PARAM_UINT:
		tap_printf(why, "allowed is %s%u to %u",
			   param->zero && param->min ? "0 or " : "",
			   param->min, param->max);
		break;
	case TAP_PARAM_BOOL:
		tap_printf(why, "allowed is 0 or 1");
		break;
	case TAP_PARAM_CHOICE:
		tap_printf(why, "allowed is");
		for (i = 0; param->choices[i]; i++)
			tap_printf(why, "%s %s", i ? " or" : "", param->choices[i]);
		break;
	case TAP_PARAM_TEXT:
		break;
	}
}

/* Numbers and words; false if the value is refused. */
static bool tap_param_parse(const struct tap_param *param, const char *val)
{
	unsigned int number;
	int i;

	switch (param->type) {
	case TAP_PARAM_UINT:
		if (kstrtouint(val, 0, &number) || number > param->max ||
		    (number < param->min && !(param->zero && !number)))
			return false;
		WRITE_ONCE(*(unsigned int *)param->value, number);
		return true;
	case TAP_PARAM_BOOL:
		if ((val[0] != '0' && val[0] != '1') || val[1])
			return false;
		WRITE_ONCE(*(bool *)param->value, val[0] == '1');
		return true;
	case TAP_PARAM_CHOICE:
		for (i = 0; param->choices[i]; i++) {
			if (!strcmp(val, param->choices[i])) {
				WRITE_ONCE(*(unsigned int *)param->value, i);
				return true;
			}
		}
		return false;
	default:
		return false;
	}
}

static int tap_param_text(const struct tap_param *param, const char *val,
			  struct tap_text *why)
{
	char **text = param->value;
	char *copy = NULL;
	int err;

	if (*val) {
		err = param->check(val, why);
		if (err)
			return err;
		copy = kvmalloc(strlen(val) + 1, GFP_KERNEL);
		if (!copy)
			return -ENOMEM;
		strcpy(copy, val);
	}
	swap(*text, copy);
	kvfree(copy);
	return 0;
}

/* The beginning of a message. It must stay one line whatever the value holds. */
static void tap_param_show(const char *name, const char *val,
			   struct tap_text *why)
{
	unsigned int i;

	tap_printf(why, "%s=", name);
	for (i = 0; val[i] && i < TAP_PARAM_SHOWN; i++) {
		unsigned char c = val[i];

		if (c < ' ' || c > '~')
			tap_printf(why, "\\%03o", c);
		else
			tap_putc(why, c);
	}
	tap_printf(why, "%s: ", val[i] ? "..." : "");
}

int tap_param_set(const struct tap_param *param, const char *name,
		  const char *val, struct tap_text *why)
{
	int err = 0;

	tap_param_show(name, val, why);
	if (strlen(val) > TAP_PARAM_MAX) {
		tap_printf(why, "longer than %u bytes", TAP_PARAM_MAX);
		err = -EINVAL;
	} else if (param->type == TAP_PARAM_TEXT) {
		err = tap_param_text(param, val, why);
	} else if (!tap_param_parse(param, val)) {
		tap_param_allowed(param, why);
		err = -EINVAL;
	}
	if (!err)
		tap_text_clear(why);
	return err;
}

void tap_param_get(const struct tap_param *param, struct tap_text *text)
{
	switch (param->type) {
	case TAP_PARAM_UINT:
		tap_printf(text, "%u", *(unsigned int *)param->value);
		break;
	case TAP_PARAM_BOOL:
		tap_printf(text, "%u", *(bool *)param->value);
		break;
	case TAP_PARAM_CHOICE:
		tap_printf(text, "%s",
			   param->choices[*(unsigned int *)param->value]);
		break;
	case TAP_PARAM_TEXT:
		tap_printf(text, "%s", *(char **)param->value ?: "");
		break;
	}
}

static int tap_param_op_set(const char *val, const struct kernel_param *kp)
{
	const struct tap_param *param = kp->arg;
	struct tap_text why = {};
	int err;

	/* a name without a value, as flags are given, switches on */
	if (!val)
		val = param->type == TAP_PARAM_BOOL ? "1" : "";
	err = tap_param_set(param, kp->name, val, &why);
	if (err)
		pr_err("%s: %.*s\n", kp->mod->name, (int)why.len, why.buf);
	tap_text_free(&why);
	return err;
}

static int tap_param_op_get(char *buffer, const struct kernel_param *kp)
{
	struct tap_text text = {};
	int len;

	tap_param_get(kp->arg, &text);
	len = min_t(size_t, text.len, PAGE_SIZE - 2);
	memcpy(buffer, text.buf, len);
	buffer[len++] = '\n';
	tap_text_free(&text);
	return len;
}

static void tap_param_op_free(void *arg)
{
	const struct tap_param *param = arg;
	char **text = param->value;

	if (param->type != TAP_PARAM_TEXT)
		return;
	kvfree(*text);
	*text = NULL;
}

const struct kernel_param_ops tap_param_ops = {
	.flags = KERNEL_PARAM_OPS_FL_NOARG,
	.set = tap_param_op_set,
	.get = tap_param_op_get,
	.free = tap_param_op_free,
};
