/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TAP_SURFACE_H
#define TAP_SURFACE_H

struct tap_tool;

/**
 * tap_surface_create() - make a tool's files: controls, then data
 * @tool: the tool, with everything behind the files at work
 *
 * Without debugfs the tool goes without its controls.
 *
 * Context: process context, may sleep.
 * Return: 0 or -ENOMEM, and then there are none.
 */
int tap_surface_create(struct tap_tool *tool);

/**
 * tap_surface_remove() - remove a tool's files
 * @tool: the tool
 *
 * Waits for calls in progress. Open files pin the module, so there are none.
 *
 * Context: process context, may sleep.
 */
void tap_surface_remove(struct tap_tool *tool);

#endif /* TAP_SURFACE_H */
