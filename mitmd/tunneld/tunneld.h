/* SPDX-License-Identifier: ISC */
/*
 * Internals of tunneld. A link is a connection to the corporate proxy that
 * dialerd made: tunneld writes the CONNECT, reads the head of the answer and
 * not a byte more, and returns the connection, or the reason of a failure, to
 * dialerd.
 */
#ifndef TUNNELD_H
#define TUNNELD_H

#include <sys/queue.h>

#include "common/buf.h"
#include "common/confine/secret.h"
#include "common/http/base64.h"
#include "common/ipc/worker.h"
#include "common/net/egress_list.h"
#include "tunneld/answer.h"

#define TUNNELD_MAX_LINKS 128U  /* dialerd's limit of connections */
#define TUNNELD_MAX_SHOWN 1000U /* TUNNEL_SHOW messages in a session */
#define TUNNELD_ANSWER_MS 20000U
/* A TUNNEL that came before its TARGET waits so long for it, so many times. */
#define TUNNELD_UNLISTED_MS 2U
#define TUNNELD_UNLISTED_TURNS 3U
#define TUNNELD_MAX_CREDENTIAL 512U
/* "Proxy-Authorization: Basic ", base64, two line ends. */
#define TUNNELD_MAX_HEADER (40U + BASE64_LEN(TUNNELD_MAX_CREDENTIAL))

/* Each keyd's hosts, and its token endpoint. */
#define TUNNELD_MAX_HOPS (PROTO_MAX_PROVIDERS * (PROTO_TARGET_LAST + 1U))

struct hop {
	char host[EGRESS_MAX_HOST + 1];
	uint16_t port;
};

struct link {
	TAILQ_ENTRY(link) entry;
	uint32_t id;
	int fd;
	struct loop_io io;
	struct loop_timer timer;
	char host[EGRESS_MAX_HOST + 1];
	uint16_t port;
	unsigned turns; /* that it has waited for its TARGET */
	bool listed;    /* tunneld has its host on a list */
	bool quiet;     /* the host must not speak before the client does */
	bool sent;
	char head[600]; /* the request without the credential */
	size_t nhead, nsent;
	struct buf in;
	struct tunnel_answer answer;
	bool dead;
};
TAILQ_HEAD(links, link);

struct tunneld_env {
	struct worker w;
	char host[EGRESS_MAX_HOST + 1]; /* the proxy's */
	uint16_t port;
	struct hop hops[TUNNELD_MAX_HOPS];
	unsigned nhops;
	struct egress_list doors[PROTO_MAX_SERVERS];
	struct secret *raw;    /* as received */
	struct secret *header; /* Proxy-Authorization and the empty line */
	size_t nheader;        /* 0: there is no credential */
	bool escaped;          /* `raw` is part of a URL */
	int key_fd;
	struct loop_io key_io;
	struct links links, dead;
	unsigned nlinks, shown;
	uint32_t last;          /* highest id so far */
	enum proto_proxy state; /* as last shown */
	char text[257];
};

extern struct tunneld_env tunneld_env;

/* serve.c */
void tunneld_serve(void) __attribute__((noreturn));

/* secret.c */
void tunneld_secret_prepare(void); /* before lock-down */
int tunneld_secret(struct chan *, const struct msg_SECRET *, int fd);

/* link.c */
int tunneld_tunnel(struct chan *, const struct msg_TUNNEL *, int fd);
/* A TARGET has come: begin the links that waited for it. */
void link_target(void);
void link_reap(void);

#endif
