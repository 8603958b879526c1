/* SPDX-License-Identifier: ISC */
/*
 * The real tunneld between a played icsupervisor, a played dialerd and a
 * played proxy on loopback, which answers what the test says.
 */
#ifndef TUNNELD_RIG_H
#define TUNNELD_RIG_H

#include "unit/ipc/worker_rig.h"

#define OK200 "HTTP/1.1 200 OK\r\n\r\n"

struct tunneld_rig {
	struct worker_rig worker;
	struct chan *dial;
	uint32_t last; /* id of the latest tunnel of rig_one */
	/* KEY_STATE */
	unsigned nkey;
	struct msg_KEY_STATE key;
	char key_text[257];
	/* TUNNEL_SHOW */
	unsigned nshown, shown_proxy;
	char shown_text[257];
	/* TUNNELED (then fd is not -1) or TUNNEL_FAIL */
	unsigned nanswers, proxy;
	uint32_t id;
	int fd;
	char text[257];
};

extern struct tunneld_rig rig;

/* tunneld, up to HELLO, with a dialerd. */
void rig_start(const char *program);
void rig_stop(void);
bool rig_until(const unsigned *what, unsigned n);

/* icsupervisor: the proxy, by this name; its credential; the rest, START. */
void rig_via(const char *host);
void rig_secret(const char *text, unsigned kind);
void rig_go(void);

/* A connection to the proxy: dialerd's end, and the proxy's in *far. */
int rig_pair(int *far);
/* dialerd: a TUNNEL over fd. */
void rig_tunnel(
    uint32_t id, const char *host, unsigned port, bool quiet, int fd);
/* What the proxy was asked, up to its empty line. */
const char *rig_asked(int far);
/* The proxy says it, step bytes at a time. */
void rig_say(int far, const char *text, size_t step);
/* One tunnel, up to the answer: what the proxy says, how. Its end. */
int rig_one(const char *answer, size_t step, bool quiet);

#endif
