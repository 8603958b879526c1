/* SPDX-License-Identifier: ISC */
/*
 * The real mitmd, confined, with this test in place of icsupervisor, auditd,
 * keyd and the agent: all ends are in one loop, each step waits for its event,
 * and nothing sleeps.
 */
#ifndef MITM_RIG_H
#define MITM_RIG_H

#include <openssl/ssl.h>

#include "common/buf.h"
#include "common/ipc/chan.h"
#include "common/ipc/stream.h"

#define RIG_WAIT_MS 30000 /* longer means failure */
#define RIG_HOST "api.example.com"
#define RIG_KEY "sk-rig-0123456789abcdefghijklmnopqrstuv"

#define KEY "x-api-key: " RIG_KEY "\r\n"
#define HOST "host: " RIG_HOST "\r\n"
#define JSON "content-type: application/json\r\n"
#define POST "POST /v1/messages?beta=true HTTP/1.1\r\n" HOST KEY JSON

#define SAY(ssl, text) rig_write((ssl), (text), sizeof(text) - 1)

/* The last REQUEST that auditd received. */
struct rig_request {
	unsigned count;
	uint32_t stream, exchange;
	unsigned provider, route;
	uint64_t length;
	char path[256], query[256];
	uint8_t headers[8192];
	size_t nheaders;
};

struct rig {
	struct loop loop;
	struct chan *sup, *audit, *key;
	struct chan *policy;	/* only with rig_asks */
	int pid;
	bool hello, ended;
	uint32_t flags;
	char why[256];		/* why a channel broke */
	uint8_t ca[4096];
	size_t nca;
	char path[128];		/* path of the agent's socket */
	struct rig_request req;
	unsigned alarms, opens, denied;
	unsigned wanted;	/* HOST_ASK that policyd received */
	char host[254], agent[33];	/* the last one's */
	unsigned usages;	/* answers whose usage was reported */
	char code[33];		/* code of the last DENIED */
	uint32_t id;
	bool mute;		/* keyd does not answer STREAM_OPEN */
	uint8_t digest[32];
	int stream;		/* keyd's end; -1: none */
	uint32_t stream_id;
	unsigned pieces;	/* AT frames in both directions */
	SSL_CTX *client;
};

extern struct rig rig;

/*
 * With this in the environment, the channel of keyd has an arena, and
 * rig_frame() puts bytes of bodies in slots as far as it can.
 */
#define RIG_ARENA "RIG_ARENA"

/* Hosts may be added; a CONNECT asks for one. Set before rig_start(). */
extern bool rig_open, rig_asks;
/* The hosts that are refused instead, as SEAL has them; not NULL. */
extern const char *rig_unasked;
/* mitmd's limit of descriptors, unless 0. Set before rig_start(). */
extern unsigned rig_nofile;
/* Start mitmd with the rig's provider file. */
void rig_start(const char *program);
void rig_stop(void);
/* Run the loop until *flag is set. Returns false after 30 s. */
bool rig_until(const bool *flag);
/* Run the loop once, for at most `ms`. */
void rig_turn(int ms);
/* Returns true if no channel is broken. */
bool rig_alive(void);

/*
 * The agent: rig_dial() connects; rig_tls() opens a tunnel with TLS, and
 * returns NULL if refused.
 */
int rig_dial(void);
int rig_send(int fd, const char *text);
/*
 * Read until the text appears, the peer closes, or 30 s pass. Returns the
 * input, NUL-terminated.
 */
const char *rig_read_until(int fd, const char *text);
SSL *rig_tls(const char *sni, const char *alpn);
void rig_close(SSL *);
void rig_write(SSL *, const char *text, size_t len);
/* Like rig_read_until(); sets rig_closed if the peer closed. */
const char *rig_read(SSL *, const char *text);
extern bool rig_closed;

/* Run the loop until *what is `count`. Returns false after 30 s. */
bool rig_counted(const unsigned *what, unsigned count);
/* Run the loop until auditd has `count` requests and keyd its stream. */
bool rig_requested(unsigned count);
/*
 * keyd: read body frames, up to `len` bytes of data. Returns the number of
 * bytes.
 */
size_t rig_body(uint8_t *dst, size_t len);
void rig_frame(enum stream_type, const void *, size_t);
/*
 * keyd: send a HEAD with the single header "content-type": server-sent events,
 * or `type`.
 */
void rig_head(unsigned status, unsigned framing, uint64_t length);
void rig_head_of(const char *type, unsigned status, unsigned framing,
    uint64_t length);

#endif
