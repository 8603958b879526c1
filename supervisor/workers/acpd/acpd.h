/* SPDX-License-Identifier: ISC */
/*
 * Internals of acpd. The sandbox's connection (acpd_box.c) brings the agent's
 * lines and the editor's channel (acpd_editor.c) those of the editor; acp.h
 * makes of each what the other side gets.
 */
#ifndef ACPD_H
#define ACPD_H

#include "common/box_conn.h"
#include "common/buf.h"
#include "common/ipc/worker.h"
#include "mcp/lines.h"
#include "workers/acpd/acp.h"

#define ACPD_AHEAD (256U << 10)  /* bytes that the editor may lag behind */
#define ACPD_BOX_FULL (64U << 10) /* beyond this, the editor waits */
/* An agent that is sent this much is not read until it reads, too. */
#define ACPD_BOX_STOP ((size_t)8 << 20)
#define ACPD_BOX_OUT (ACPD_BOX_STOP + 3 * (size_t)ACP_MAX_LINE)
#define ACPD_MAX_ALARMS 8U
#define ACPD_SAID 1000U /* bytes of a line on standard error */
#define ACPD_TIMERS 4U

/* A stream of lines, of which some may be too long. */
struct acpd_lines {
	struct lines lines;
	struct idscan scan; /* state within a line that is too long */
	bool more;          /* there may be a whole line */
};

struct acpd_env {
	struct worker w;
	bool has_mode;
	char host[4097], named[4097], inside[4097];
	struct acp acp;
	struct box_conn box;
	bool input_end;  /* the editor's: it is sent behind its last line */
	bool input_over; /* the end of standard input has been sent */
	struct acpd_lines agent, editor;
	struct chan *chan; /* the editor's; NULL: none */
	bool gone;         /* it cannot be written any more */
	bool ended;        /* BOX_END has been sent */
	uint32_t owed;     /* bytes of input that count against its room */
	struct buf said;   /* an unfinished line of standard error */
	unsigned alarms;
	bool stopping;
};

extern struct acpd_env acpd_env;

/* acpd_serve.c */
void acpd_serve(void) __attribute__((noreturn));

/* acpd_lines.c */
/* Take the next whole lines, as long as `reads` says so. */
void acpd_lines_work(struct acpd_lines *, bool (*reads)(void), bool agent);

/* acpd_box.c */
extern const struct box_conn_ops acpd_box_ops;

/* acpd_box_out.c */
/* Queue bytes of the agent's standard input, or its end. */
void acpd_box_send(struct span);
void acpd_box_end(void);

/* acpd_editor.c */
/* Take over the editor's channel; there is one. */
void acpd_editor_open(int fd);
/* The agent has taken what was queued: accept more of the editor. */
void acpd_editor_room(void);
/* Returns true if the agent may be read. */
bool acpd_editor_reads(void);
void acpd_editor_end(void);
/* Write a line to the editor's log. */
void acpd_say(struct span line);
extern const struct acp_ops acpd_ops;

#endif
