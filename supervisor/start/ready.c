/* SPDX-License-Identifier: ISC */
/* Reports that the session is up: session.json, the READY line, systemd. */
#include "core/sup.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "base/here.h"
#include "base/json_put.h"
#include "box/box.h"
#include "box/sandbox.h"
#include "common/log.h"
#include "common/time_text.h"
#include "conversation/talk_trouble.h"
#include "later.h"
#include "relay/publish.h"
#include "resume/record.h"

static struct json_object *
ready_confinement(void)
{
	struct json_object *o = json_object_new_object();
	char text[256];

	for (unsigned i = 0; i < sup.nchildren; i++)
		if (sup.children[i].name[0] != '\0')
			put_str(o, sup.children[i].name,
			    confine_describe(
				&sup.children[i].confine, text, sizeof(text)));
	return o;
}

/* Lists workers that lack a layer of confinement, and which one. */
static struct json_object *
ready_lacking(void)
{
	struct json_object *o = json_object_new_object();
	const struct child *c;
	uint32_t missing;
	char text[256];

	for (unsigned i = 0; i < sup.nchildren; i++) {
		c = &sup.children[i];
		missing = topology_missing(c->role, &c->confine);
		if (c->name[0] != '\0' && missing != 0)
			put_str(o, c->name,
			    confine_names(missing, text, sizeof(text)));
	}
	return o;
}

void
ready_missing(void)
{
	uint32_t missing = 0;
	char text[256];

	for (unsigned i = 0; i < sup.nchildren; i++)
		if (sup.children[i].name[0] != '\0')
			missing |= topology_missing(
			    sup.children[i].role, &sup.children[i].confine);
	/* Many kernels have no secret memory; icctl doctor reports that. */
	missing &= ~(uint32_t)CONFINE_SECRETMEM;
	if (missing != 0)
		sup_warn("this system refuses layers of confinement: %s. The "
			 "others are in force. Details: icctl doctor. With "
			 "--require all such a session does not start",
		    confine_names(missing, text, sizeof(text)));
}

/* Add a number that may be too large for other readers, as text. */
static void
put_u64(struct json_object *o, const char *key, uint64_t n)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)n);
	put_str(o, key, text);
}

/* record.c reads this file; it refuses members that it does not know. */
int
ready_session_json(const char *state)
{
	struct json_object *o = json_object_new_object(), *policy, *later;
	static const char *const kinds[] = {"policy", "annotations", "lists"};
	char *text, when[TIME_TEXT];
	struct stat st;
	int rv;

	policy = json_object_new_object();
	for (unsigned k = 0; k <= PROTO_RULES_LAST; k++) {
		if (sup.rules[k].path == NULL)
			continue;
		put_digest(policy, kinds[k], sup.rules[k].hash);
	}
	put_int(o, "format", RECORD_FORMAT);
	put_str(o, "session", sup.session.id);
	put_str(o, "state", state);
	put_str(o, "version", IC_VERSION);
	put_int(o, "pid", getpid());
	put_int(o, "pidStart", (int64_t)here_start(getpid()));
	put_str(o, "host", here()->host);
	put_str(o, "boot", here()->boot);
	put_str(o, "startedBy", here()->by);
	put_str(o, "agent",
	    sup.opt.runtime == RUNTIME_NONE ? "none" : sup.adapter.name);
	if (sup.adapter.name != NULL)
		put_str(o, "adapter", sup.adapter.name);
	if (sup.providers.model[0] != '\0')
		put_str(o, "model", sup.providers.model);
	if (sup.opt.persona != NULL)
		put_str(o, "persona", sup.opt.persona);
	if (sup.constitution[0] != '\0')
		put_str(o, "constitution", sup.constitution);
	put_str(o, "runtime", options_runtime_name(sup.opt.runtime));
	if (sandbox.image[0] != '\0') {
		put_str(o, "image", sandbox.image);
		put_str(
		    o, "transport", options_transport_name(sup.opt.transport));
	}
	put_str(o, "workspace", sup.workspace_path);
	if (fstat(sup.workspace, &st) == 0) {
		put_u64(o, "workspaceDev", (uint64_t)st.st_dev);
		put_u64(o, "workspaceIno", (uint64_t)st.st_ino);
	}
	if (sup.read_only)
		put_bool(o, "workspaceReadOnly", true);
	if (sup.conversation.name[0] != '\0') {
		put_str(o, "conversation", sup.conversation.name);
		put_bool(o, "talked", sup.conversation.talked);
		if (talk_trouble_quota(when) && when[0] != '\0')
			put_str(o, "quotaUntil", when);
	}
	put_int(o, "started", (int64_t)(sup.began / 1000000));
	json_object_object_add(o, "policy", policy);
	if (sup.opt.npublish != 0)
		json_object_object_add(o, "published", publish_json());
	json_object_object_add(o, "limits", limits_json(&sup.config.limits));
	json_object_object_add(o, "breakoutTest", breakout_json());
	json_object_object_add(o, "confinement", ready_confinement());
	json_object_object_add(o, "missing", ready_lacking());
	if ((later = later_json()) != NULL)
		json_object_object_add(o, "runsLater", later);
	if (sup.ending) {
		put_int(o, "status", sup.end_status);
		put_str(o, "why", sup.end_why);
	}
	rv = asprintf(&text, "%s\n",
	    json_object_to_json_string_ext(
		o, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
	if (rv == -1)
		return -1;
	rv =
	    session_write(sup.session.fd, "session.json", 0600, span_str(text));
	free(text);
	return rv;
}

static void
put_path(struct json_object *o, const char *key, const char *name)
{
	char *path = paths_join(sup.session.dir, name);

	put_str(o, key, path != NULL ? path : name);
	free(path);
}

void
ready_print(void)
{
	struct json_object *o = json_object_new_object();
	struct json_object *sockets = json_object_new_object();

	put_str(o, "session", sup.session.id);
	put_path(sockets, "mcp", "sockets/proxy.sock");
	put_path(sockets, "mitm", "sockets/mitm-proxy.sock");
	json_object_object_add(o, "sockets", sockets);
	put_path(o, "control", "control.sock");
	if (sup.opt.npublish != 0)
		json_object_object_add(o, "published", publish_json());
	put_int(o, "pid", getpid());
	json_object_object_add(o, "confinement", ready_confinement());
	json_object_object_add(o, "missing", ready_lacking());
	if (box_proc_masked())
		put_bool(o, "procMasked", true);
	check_line(o);
}

void
ready_notify_why(const char *why)
{
	char text[1100] = "STATUS=";
	const size_t n = strlen(text);

	/* A newline would begin another message. */
	log_vis_again(span_str(why), text + n, sizeof(text) - n);
	ready_notify(text);
}

/* sd_notify(3) without the library: one datagram. */
void
ready_notify(const char *text)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	size_t n;
	int fd;

	if (path == NULL || (path[0] != '/' && path[0] != '@') ||
	    (n = strlen(path)) >= sizeof(sun.sun_path))
		return;
	memcpy(sun.sun_path, path, n);
	if (path[0] == '@')
		sun.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd == -1)
		return;
	if (sendto(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT,
		(struct sockaddr *)&sun,
		(socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)) == -1)
		sup_note("NOTIFY_SOCKET: %s", strerror(errno));
	close(fd);
}
