/* SPDX-License-Identifier: ISC */
/*
 * The real tunneld between icsupervisor and dialerd, both played, and a proxy
 * on loopback that answers as the test tells it.
 */
#ifndef TUNNELD_RIG_H
#define TUNNELD_RIG_H

#include "unit/ipc/worker_rig.h"

#define OK200 "HTTP/1.1 200 OK\r\n\r\n"

struct tunneld_rig {
	struct worker_rig worker;
	struct chan *dial;
	uint32_t last; /* id of rig_one()'s last tunnel */
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

/* Start tunneld, up to HELLO, with a dialerd. */
void rig_start(const char *program);
void rig_stop(void);
bool rig_until(const unsigned *what, unsigned n);

/*
 * As icsupervisor, send the proxy's name, its credential, and the rest up to
 * START.
 */
void rig_via(const char *host);
void rig_secret(const char *text, unsigned kind);
void rig_go(void);

/*
 * Make a connection to the proxy. Returns dialerd's end; `*far` is the proxy's.
 */
int rig_pair(int *far);
/* As dialerd, send a TUNNEL over `fd`. */
void rig_tunnel(
    uint32_t id, const char *host, unsigned port, bool quiet, int fd);
/* Returns what the proxy was sent, up to the empty line. */
const char *rig_asked(int far);
/* As the proxy, send the text, `step` bytes at a time. */
void rig_say(int far, const char *text, size_t step);
/*
 * Open one tunnel and let the proxy answer. Returns its end of the connection.
 */
int rig_one(const char *answer, size_t step, bool quiet);

#endif
