/* SPDX-License-Identifier: ISC */
/* The panel, in which a viewer's person answers pending calls. */
#ifndef PANEL_H
#define PANEL_H

#include <stdbool.h>

/* Returns true if there is a terminal whose person may answer from here. */
bool panel_could(void);
/* Returns true if, besides, our job is in front there. */
bool panel_may(void);
/* Shows all that wait, one after the other. Returns once it is closed. */
void panel_run(void);
/*
 * Runs a command about this session that needs no argument, such as "undo", on
 * the terminal, in place of the agent. `fd` becomes its descriptor 3, unless it
 * is -1. Returns once the person has read it.
 */
void panel_command(const char *command, int fd);
bool panel_open(void);
/* Closes it: we leave. */
void panel_kill(void);

#endif
