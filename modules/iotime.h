/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TAP_IOTIME_H
#define TAP_IOTIME_H

#include <linux/limits.h>

#include "file_io.h"
#include "strings.h"
#include "tap.h"

/* Longest name, bytes; of a longer one the end is kept, after three dots. */
#define IOTIME_NAME 1024

/**
 * struct iotime_sums - what was transferred on an open file
 * @read: bytes read
 * @written: bytes written
 * @transfers: how many transfers it took
 * @ns: how long they took together
 */
struct iotime_sums {
	u64 read;
	u64 written;
	u64 transfers;
	u64 ns;
};

/**
 * struct iotime_open - an open file
 * @sums: so far
 * @opened: when it was opened
 * @closed: nobody can use it any more, but somebody has not returned yet
 * @users: transfers that have begun and not ended
 * @names: who opened it, or closed it
 * @name: in the pool
 * @wanted: the filter wants who that is
 */
struct iotime_open {
	struct iotime_sums sums;
	u64 opened;
	u64 closed;
	struct tap_names names;
	u32 users;
	u32 name;
	bool wanted;
	u8 pad[7];
};

/**
 * struct iotime_event - an open file was closed, or could not be opened
 * @names: who closed it last, or tried to open it
 * @sums: all in all
 * @open_ns: how long it was open
 * @error: 0, or why not, below 0
 * @name: its name, terminated; what is behind it is not part of the event
 */
struct iotime_event {
	struct tap_names names;
	struct iotime_sums sums;
	u64 open_ns;
	s32 error;
	char name[IOTIME_NAME + 4];
};

/**
 * struct iotime_scratch - where a CPU works out names and events
 * @event: an event
 * @path: a path
 */
struct iotime_scratch {
	struct iotime_event event;
	char path[PATH_MAX];
};

/* The parameter name_kb, and its room. */
extern unsigned int iotime_name_kb;
extern struct tap_strings iotime_names;
/* When the tool was loaded, as stamps of events. */
extern u64 iotime_start;
/* Files closed that were not seen to be opened. */
extern atomic64_t iotime_unseen;

/* The handlers and what they need, see iotime_hooks.c. */
int iotime_prepare(struct tap_tool *tool, struct tap_text *why);
void iotime_end(struct tap_tool *tool);
bool iotime_begin(struct tap_tool *tool, const struct file *file);
void iotime_io(struct tap_tool *tool, const struct tap_io *io);
void iotime_fd_install(struct tap_tool *tool, const struct tap_args *args);
void iotime_fput(struct tap_tool *tool, const struct tap_args *args);
void iotime_sys_exit(void *data, struct pt_regs *regs, long ret);

#endif /* TAP_IOTIME_H */
