/* SPDX-License-Identifier: ISC */
/*
 * The corporate proxy in front of us: config.json's "proxy", else https_proxy
 * and no_proxy of the environment.  Its credential goes to tunneld as a
 * descriptor; of what stands in a variable no copy is kept, and every
 * variable that names a proxy loses its user name and password before READY.
 */
#ifndef PROXY_H
#define PROXY_H

#include "credential/credential.h"

struct proxy {
	bool set;
	char host[254];
	uint16_t port;
	const char *from; /* "config.json", "https_proxy", "HTTPS_PROXY" */
	char *direct;     /* rows, each with a newline behind it */
	unsigned ndirect;
	char *ca; /* PEM, more roots and no keys, or NULL */
	size_t ca_len;
	bool auth;    /* there is a credential */
	bool escaped; /* as it stands in a URL */
	struct credential cred;
	struct host_program command;
	/* as tunneld tells */
	bool known;
	enum proto_key key;
	char key_text[257];
	bool told;
	enum proto_proxy state;
	char text[257];
};

int proxy_load(struct proxy *, const struct config *, struct fault *);
/*
 * Opens the credential, if a command prints it as `commands` says, and wipes
 * the environment.
 */
int proxy_credential(struct proxy *, const struct config *, bool commands,
    const struct credential_how *, struct fault *);
void proxy_free(struct proxy *);
/* "ok", "not used yet", ... */
const char *proxy_state(const struct proxy *);
/* What the user can do about it, or "". */
const char *proxy_hint(const struct proxy *);

#endif
