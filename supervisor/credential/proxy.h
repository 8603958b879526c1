/* SPDX-License-Identifier: ISC */
/*
 * The corporate proxy between this machine and the internet: "proxy" of
 * config.json, or else https_proxy and no_proxy of the environment. Its
 * credential goes to tunneld as a descriptor. No copy of a password in a
 * variable is kept, and every variable that names a proxy loses its user name
 * and password before READY.
 */
#ifndef PROXY_H
#define PROXY_H

#include "credential/credential.h"

struct proxy {
	bool set;
	char host[254];
	uint16_t port;
	const char *from; /* "config.json", "https_proxy", "HTTPS_PROXY" */
	char *direct;     /* hosts not to proxy, each followed by a newline */
	unsigned ndirect;
	char *ca; /* PEM, more roots and no private key; or NULL */
	size_t ca_len;
	bool auth;    /* there is a credential */
	bool escaped; /* it is percent-encoded, as in a URL */
	struct credential cred;
	struct host_command command;
	/* as tunneld reports */
	bool known;
	enum proto_key key;
	char key_text[257];
	bool told;
	enum proto_proxy state;
	char text[257];
};

int proxy_load(struct proxy *, const struct config *, struct fault *);
/*
 * Open the credential if it comes from a command and `commands` is set, or from
 * elsewhere and it is not; then wipe the environment.
 */
int proxy_credential(struct proxy *, const struct config *, bool commands,
    const struct credential_how *, struct fault *);
/* Returns "ok", "not used yet", ... */
const char *proxy_state(const struct proxy *);
/* Returns what the user can do about the state, or "". */
const char *proxy_hint(const struct proxy *);

#endif
