/* SPDX-License-Identifier: ISC */
/*
 * The real mitmd, confined, with this test in place of icsupervisor, auditd,
 * keyd and the agent: all ends in one loop, each step waited for, no sleeps.
 */
#ifndef MITM_RIG_H
#define MITM_RIG_H

#include <openssl/ssl.h>

#include "common/buf.h"
#include "common/ipc/chan.h"
#include "mitmd/wire/stream.h"

#define RIG_WAIT_MS 30000 /* then something is wrong */
#define RIG_HOST "api.example.com"
#define RIG_KEY "sk-rig-0123456789abcdefghijklmnopqrstuv"

#define KEY "x-api-key: " RIG_KEY "\r\n"
#define HOST "host: " RIG_HOST "\r\n"
#define JSON "content-type: application/json\r\n"
#define POST "POST /v1/messages?beta=true HTTP/1.1\r\n" HOST KEY JSON

#define SAY(ssl, text) rig_write((ssl), (text), sizeof(text) - 1)

/* What auditd was sent last. */
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
	int pid;
	bool hello, ended;
	uint32_t flags;
	char why[256];		/* of a channel that broke */
	uint8_t ca[4096];
	size_t nca;
	char path[128];		/* of the agent's socket */
	struct rig_request req;
	unsigned alarms, opens, denied;
	char code[33];		/* of the latest DENIED */
	uint32_t id;
	bool mute;		/* keyd answers no STREAM_OPEN */
	uint8_t digest[32];
	int stream;		/* keyd's end; -1: none */
	uint32_t stream_id;
	SSL_CTX *client;
};

extern struct rig rig;

/* May hosts be added? Before rig_start. */
extern bool rig_open;
/* Its limit on descriptors, if not 0. Before rig_start. */
extern unsigned rig_nofile;
/* Starts the program with the provider file of the rig and begins. */
void rig_start(const char *program);
void rig_stop(void);
/* Turns until *flag or 30 s; says whether. */
bool rig_until(const bool *flag);
/* One turn of at most ms. */
void rig_turn(int ms);
/* Has no channel broken? */
bool rig_alive(void);

/* The agent: a plain connection; a tunnel with TLS (NULL when refused). */
int rig_dial(void);
int rig_send(int fd, const char *text);
/* Reads until the text appears, the peer closes or 30 s; NUL-terminated. */
const char *rig_read_until(int fd, const char *text);
SSL *rig_tls(const char *sni, const char *alpn);
void rig_close(SSL *);
void rig_write(SSL *, const char *text, size_t len);
/* Reads until the text appears, the peer closes (then *closed) or 30 s. */
const char *rig_read(SSL *, const char *text);
extern bool rig_closed;

/* Turns until *what is count or 30 s; says whether. */
bool rig_counted(const unsigned *what, unsigned count);
/* Until auditd has `count` requests and keyd its stream. */
bool rig_requested(unsigned count);
/* keyd: the body frames that came, up to len bytes of data. */
size_t rig_body(uint8_t *dst, size_t len);
void rig_frame(enum stream_type, const void *, size_t);
/* HEAD with one header "content-type": of server-sent events, or that one. */
void rig_head(unsigned status, unsigned framing, uint64_t length);
void rig_head_of(const char *type, unsigned status, unsigned framing,
    uint64_t length);

#endif
