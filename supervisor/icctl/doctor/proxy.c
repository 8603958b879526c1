/* SPDX-License-Identifier: ISC */
/*
 * The part of `icctl doctor` about a corporate proxy, in config.json or the
 * environment. It only connects to the proxy; whether the credential is
 * accepted shows in `icctl status`.
 */
#include "icctl/doctor/doctor.h"

#include <sys/socket.h>

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/proxy_url.h"

#define DOCTOR_CONNECT_MS 3000

/* Returns the URL in config.json, which the caller frees, or NULL. */
static char *
doctor_config_url(const struct icctl *ctl)
{
	json_object *root, *proxy, *url;
	char path[4200], *text = NULL;

	snprintf(path, sizeof(path), "%.4000s/config.json", ctl->home);
	if (access(path, R_OK) == -1 ||
	    (root = json_object_from_file(path)) == NULL)
		return NULL;
	if (json_object_object_get_ex(root, "proxy", &proxy) &&
	    json_object_object_get_ex(proxy, "url", &url) &&
	    json_object_is_type(url, json_type_string))
		text = strdup(json_object_get_string(url));
	json_object_put(root);
	return text;
}

/* Returns NULL if the proxy answers, or else the reason. */
static const char *
doctor_try(const struct addrinfo *ai)
{
	struct pollfd p = {.events = POLLOUT};
	socklen_t len = sizeof(int);
	const char *why = NULL;
	int error = 0;

	p.fd = socket(
	    ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (p.fd == -1)
		return strerror(errno);
	if (connect(p.fd, ai->ai_addr, ai->ai_addrlen) == -1) {
		if (errno != EINPROGRESS)
			why = strerror(errno);
		else if (poll(&p, 1, DOCTOR_CONNECT_MS) != 1)
			why = "no answer within 3 seconds";
		else if (getsockopt(p.fd, SOL_SOCKET, SO_ERROR, &error, &len) ==
			     0 &&
			 error != 0)
			why = strerror(error);
	}
	close(p.fd);
	return why;
}

static const char *
doctor_connect(const struct proxy_url *u)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list, *ai;
	const char *why = NULL;
	char port[8];
	int r;

	snprintf(port, sizeof(port), "%u", u->port);
	if ((r = getaddrinfo(u->host, port, &hints, &list)) != 0)
		return gai_strerror(r);
	for (ai = list; ai != NULL; ai = ai->ai_next)
		if ((why = doctor_try(ai)) == NULL)
			break;
	freeaddrinfo(list);
	return why;
}

void
doctor_proxy(const struct icctl *ctl, doctor_check *check)
{
	static const char what[] = "corporate proxy";
	static const char *const names[] = {"https_proxy", "HTTPS_PROXY"};
	const char *from = "config.json", *why = NULL, *v;
	char *own = doctor_config_url(ctl), text[600];
	struct proxy_url u;

	v = own;
	for (size_t i = 0; i < 2 && (v == NULL || *v == '\0'); i++)
		v = getenv(from = names[i]);
	if (v == NULL || *v == '\0')
		goto out;
	if (proxy_url(v, &u, &why) == -1) {
		check(BAD, what, from, why);
		goto out;
	}
	why = doctor_connect(&u);
	snprintf(text, sizeof(text), "%s:%u (%s%s)%s%s", u.host, u.port, from,
	    u.secret.len != 0 ? ", with a credential" : "",
	    why != NULL ? ": " : "", why != NULL ? why : "");
	if (why != NULL)
		check(BAD, what, text,
		    "check its host and port: everything that leaves a session "
		    "goes through it, except to hosts named in no_proxy");
	else
		check(NOTE, what, text,
		    "it answers. Everything that leaves a session goes through "
		    "it, except to hosts named in no_proxy; it resolves host "
		    "names and screens their addresses: ironcurtain-config(5), "
		    "A corporate proxy");
out:
	free(own);
}
