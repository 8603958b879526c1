/* SPDX-License-Identifier: ISC */
/*
 * Probes a server in an ordinary session with a temporary IRONCURTAIN_HOME, so
 * that the server is started, confined and read exactly as in any other
 * session. probe_talk.c asks it for its tools.
 */
#include "icctl/mcp/probe.h"

#include <sys/stat.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/envlist.h"
#include "base/json_get.h"
#include "base/json_put.h"
#include "base/paths.h"
#include "base/tree.h"
#include "common/buf.h"
#include "files/servers.h"
#include "icctl/icctl.h"
#include "icctl/mcp/own.h"
#include "icctl/mcp/probe_priv.h"
#include "icctl/mcp/store.h"
#include "log/said.h"

#define PROBE_STOP_MS 20000
#define PROBE_AGAIN_MS 20
#define PROBE_SAID 400U /* bytes of a server's line that are shown */

/* A bare server may read the files that the entry names, and nothing else. */
static void
probe_sandbox(struct json_object *entry)
{
	struct json_object *box = NULL, *files = NULL, *paths, *rows, *v;

	if (!json_object_object_get_ex(entry, "sandbox", &box) ||
	    !json_object_object_get_ex(box, "filesystem", &files)) {
		json_object_object_del(entry, "sandbox");
		return;
	}
	paths = json_object_new_array();
	json_object_object_foreach(files, key, list)
	{
		if (strncmp(key, "allow", 5) != 0)
			continue;
		for (size_t i = 0; i < json_object_array_length(list); i++) {
			v = json_object_array_get_idx(list, i);
			if (access(json_object_get_string(v), F_OK) == 0)
				json_object_array_add(
				    paths, json_object_get(v));
		}
	}
	rows = json_object_new_object();
	json_object_object_add(rows, "allowRead", paths);
	box = json_object_new_object();
	json_object_object_add(box, "filesystem", rows);
	json_object_object_add(entry, "sandbox", box);
}

/*
 * Returns the entry to start with; if `bare`, without everything that the
 * person has not agreed to yet.
 */
static struct json_object *
probe_entry(struct json_object *entry, bool bare)
{
	struct json_object *copy = NULL, *args, *clean;
	const char *s;

	if (json_object_deep_copy(entry, &copy, NULL) == -1)
		return NULL;
	if (!bare)
		return copy;
	json_object_object_del(copy, "env");
	probe_sandbox(copy);
	put_bool(copy, "workspace", false);
	if (!json_object_object_get_ex(copy, "args", &args))
		return copy;
	clean = json_object_new_array();
	for (size_t i = 0; i < json_object_array_length(args); i++) {
		s = json_object_get_string(json_object_array_get_idx(args, i));
		json_object_array_add(
		    clean, json_object_new_string(
			       strstr(s, "${") != NULL ? "placeholder" : s));
	}
	json_object_object_add(copy, "args", clean);
	return copy;
}

/* Add what a session knows of the server beside its entry. */
static void
probe_own(const struct probe *p, const char *name, struct json_object *config)
{
	static const char *const keys[] = {"toolDefinitions"};
	struct json_object *v, *all;

	for (size_t i = 0; i < nitems(keys); i++)
		if ((v = get_member(p->how->own->config, keys[i])) != NULL)
			json_object_object_add(
			    config, keys[i], json_object_get(v));
	if ((v = own_secrets(p->how->own, name)) == NULL)
		return;
	all = json_object_new_object();
	json_object_object_add(all, name, json_object_get(v));
	json_object_object_add(config, "serverCredentials", all);
}

/* Take the definitions along that the person has approved. */
static int
probe_pins(const struct probe *p, struct fault *fault)
{
	struct json_object *pins;
	int rv = 0;

	pins = store_read(p->how->own->paths.home, "pins.json", fault);
	if (pins == NULL)
		return -1;
	if (json_object_object_length(pins) != 0)
		rv = store_write(p->dir, "pins.json", pins, fault);
	json_object_put(pins);
	return rv;
}

/*
 * Write the configuration. One that has secrets is beside the person's own,
 * where such files belong, and as long as the session runs.
 */
static int
probe_config(struct probe *p, struct json_object *config, struct fault *fault)
{
	const char *dir =
	    p->how->own != NULL ? p->how->own->paths.home : p->dir;
	int fd, rv;

	snprintf(p->config, sizeof(p->config), "%.4000s/.probe-XXXXXX", dir);
	if ((fd = mkostemp(p->config, O_CLOEXEC)) == -1) {
		p->config[0] = '\0';
		return fault_errno(fault, "%s", dir);
	}
	rv = span_write(fd, span_str(json_object_to_json_string_ext(
				config, JSON_C_TO_STRING_PLAIN)));
	if (rv == -1)
		fault_errno(fault, "%s", p->config);
	close(fd);
	return rv;
}

/*
 * Let the session take the copy of /etc that the person's own sessions have: to
 * make one takes longer than everything else.
 */
static void
probe_system(const struct probe *p)
{
	struct paths paths = {NULL};
	struct fault fault;
	char *store = NULL, *link = NULL;

	if (paths_init(&paths, NULL, &fault) == 0 &&
	    (store = paths_join(paths.home, "system")) != NULL &&
	    (link = paths_join(p->dir, "system")) != NULL &&
	    (mkdir(store, 0700) == 0 || errno == EEXIST) &&
	    symlink(store, link) == -1)
		warn("%s", link);
	free(store);
	free(link);
	paths_free(&paths);
}

static int
probe_files(struct probe *p, const char *name, struct json_object *entry,
    struct fault *fault)
{
	struct json_object *root = json_object_new_object(),
			   *config = json_object_new_object(),
			   *policy = json_object_new_object(), *trusted;
	int rv = -1;

	/* No policy knows its tools, and nobody is asked: list them still. */
	put_str(policy, "unknownTools", "deny");
	if (p->how->call != NULL) {
		trusted = json_object_new_array();
		json_object_array_add(trusted, json_object_new_string(name));
		json_object_object_add(policy, "trustedServers", trusted);
	}
	json_object_object_add(config, "policy", policy);
	if (p->how->own != NULL)
		probe_own(p, name, config);
	snprintf(p->dir, sizeof(p->dir), "/tmp/ic-probe-XXXXXX");
	if (mkdtemp(p->dir) == NULL) {
		p->dir[0] = '\0';
		fault_errno(fault, "/tmp");
		json_object_put(root);
		goto out;
	}
	probe_system(p);
	if (entry != NULL)
		json_object_object_add(root, name, json_object_get(entry));
	if (strcmp(name, SERVERS_FILES) != 0)
		put_bool(root, SERVERS_FILES, false);
	json_object_object_add(config, "mcpServers", root);
	if (p->how->own != NULL && probe_pins(p, fault) == -1)
		goto out;
	rv = probe_config(p, config, fault);
out:
	json_object_put(config);
	return rv;
}

/*
 * Start icsupervisor. A bare server finds nothing of the person's environment.
 * Returns 0, or -1 with errno set.
 */
static int
probe_spawn(struct probe *p, const char *program, int out, int log)
{
	const char *path = getenv("PATH"), *user = getenv("HOME");
	char session[96], ours[128], search[PATH_MAX + 8], home[PATH_MAX + 8];
	const char *const argv[] = {"icsupervisor", "--session-dir", session,
	    "--runtime", "none", "--escalations", "deny", "--print-ready",
	    "--config", p->config, NULL};
	const char *const set[] = {ours, search, home, "LANG=C.UTF-8"};
	char *const bare[] = {NULL};
	struct spawn s = {.path = program,
	    .argv = (char *const *)(uintptr_t)argv,
	    .fds = {-1, out, log},
	    .nfds = 3,
	    .tie = SPAWN_ENDED};
	const bool own = p->how->own != NULL;
	char **env;
	int rv;

	snprintf(session, sizeof(session), "%s/session", p->dir);
	snprintf(ours, sizeof(ours), "IRONCURTAIN_HOME=%s", p->dir);
	snprintf(search, sizeof(search), "PATH=%.4000s",
	    path != NULL ? path : "/usr/bin:/bin");
	snprintf(home, sizeof(home), "HOME=%.4000s", user != NULL ? user : "/");
	env = envlist_with(own ? environ : bare, set, own ? 1 : nitems(set));
	if (env == NULL)
		return -1;
	s.envp = env;
	rv = spawn_start(&s, &p->sup) == 0 ? spawn_check(&p->sup) : -1;
	free(env);
	return rv;
}

static int
probe_start(struct probe *p, struct fault *fault)
{
	int out[2] = {-1, -1}, log[2] = {-1, -1}, rv = 0;
	char program[4096];

	if (icctl_program("icsupervisor", program, sizeof(program)) == -1 ||
	    pipe2(out, O_CLOEXEC) == -1 || pipe2(log, O_CLOEXEC) == -1)
		return fault_errno(fault, "icsupervisor");
	if (probe_spawn(p, program, out[1], log[1]) == -1)
		rv = fault_errno(fault, "icsupervisor");
	close(out[1]);
	close(log[1]);
	p->out = out[0];
	p->log = log[0];
	(void)fcntl(p->log, F_SETFL, O_NONBLOCK);
	return rv;
}

/* Find the last line that the server wrote to its stderr. Returns false if
 * none. */
static bool
probe_said(const struct probe *p, const char *name, char said[PROBE_SAID])
{
	char path[128], line[2600], begin[128], *at;
	FILE *f;

	said[0] = '\0';
	snprintf(path, sizeof(path), "%s/session/session.log", p->dir);
	snprintf(begin, sizeof(begin), " mcp-backd %.64s: stderr: ", name);
	if ((f = fopen(path, "re")) == NULL)
		return false;
	while (fgets(line, sizeof(line), f) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if ((at = strstr(line, begin)) != NULL)
			strlcpy(said, at + strlen(begin), PROBE_SAID);
	}
	fclose(f);
	return said[0] != '\0';
}

/*
 * Call files of the temporary session by their names alone: they are removed
 * when the message is read.
 */
static void
probe_names(const struct probe *p, struct fault *fault)
{
	size_t n = strlen(p->dir), cut;
	char *at;

	while (n != 0 && (at = strstr(fault->text, p->dir)) != NULL) {
		cut = n + strspn(at + n, "/");
		if (strncmp(at + cut, "session/", 8) == 0)
			cut += 8;
		memmove(at, at + cut, strlen(at + cut) + 1);
	}
	if (fault->text[0] == '\0')
		fault_set(fault, "it could not be started");
}

/*
 * Set the fault to the last line that icsupervisor wrote for a person, and the
 * last one of the server's: the log that has more of them is removed.
 */
static int
probe_why(struct probe *p, const char *name, struct fault *fault)
{
	char text[4096], said[PROBE_SAID], *line = text, *end;
	ssize_t n = read(p->log, text, sizeof(text) - 1);
	bool ended;

	text[n > 0 ? n : 0] = '\0';
	while ((end = strchr(line, '\n')) != NULL && end[1] != '\0')
		line = end + 1;
	line[strcspn(line, "\n")] = '\0';
	if (strncmp(line, "icsupervisor: ", 14) == 0)
		line += 14;
	if ((ended = (end = strstr(line, SAID_LOG)) != NULL))
		*end = '\0';
	if (*line == '\0')
		return fault_set(fault, "%s offers no tools", name);
	if (!ended)
		return fault_set(fault, "%s", line);
	return fault_set(fault, "%s%s%s%s%s", line,
	    probe_said(p, name, said) ? ". Its last line: " : "", said,
	    p->how->bare
		? ". It was tried without the variables, files and hosts "
		  "of its entry"
		: "",
	    p->how->bare ? ", which a session gives it" : "");
}

/* Set the fault to what keeps a server from offering tools. Returns -1. */
static int
probe_afar(struct probe *p, const char *name, struct json_object *server,
    struct fault *fault)
{
	const char *text = icctl_text(server, "text"), *why, *at;

	if (strcmp(icctl_text(server, "state"), "starting") != 0)
		return probe_why(p, name, fault);
	why = icctl_text(get_member(server, "failure"), "text");
	if ((at = strrchr(why, ':')) != NULL && strstr(text, at) != NULL)
		at = NULL;
	return fault_set(fault, "%s %s%s", name, text, at != NULL ? at : "");
}

/*
 * Returns true if the reply says that the server is ready or has ended, or that
 * a remote one cannot be reached for now, which a session goes on trying.
 */
static bool
probe_ready(struct json_object *reply, const char *name)
{
	struct json_object *list, *o;
	const char *state;

	if (!json_object_object_get_ex(reply, "servers", &list))
		return false;
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		o = json_object_array_get_idx(list, i);
		state = icctl_text(o, "state");
		if (strcmp(icctl_text(o, "name"), name) == 0)
			return strcmp(state, "ready") == 0 ||
			       strcmp(state, "gone") == 0 ||
			       (get_member(o, "failure") != NULL &&
				   *icctl_text(o, "text") != '\0');
	}
	return false;
}

/*
 * Ask the session what it knows of the server, and which definitions the agent
 * does not get as they are. It knows them once the server is ready, which it
 * hears by another way than we hear the list.
 */
static void
probe_status(const struct probe *p, const char *name, struct mcp_probed *out)
{
	struct json_object *reply, *list;
	char dir[96];
	bool ready;

	snprintf(dir, sizeof(dir), "%s/session", p->dir);
	do {
		if ((reply = icctl_ask_dir(dir, "status")) == NULL)
			return;
		ready = probe_ready(reply, name);
		if (ready) {
			out->noted =
			    json_object_get(get_member(reply, "definitions"));
			out->quarantined =
			    json_object_get(get_member(reply, "quarantined"));
			list = get_typed(reply, "servers", json_type_array);
			for (size_t i = 0; i < json_object_array_length(list);
			     i++)
				if (strcmp(icctl_text(json_object_array_get_idx(
							  list, i),
					       "name"),
					name) == 0)
					out->server = json_object_get(
					    json_object_array_get_idx(list, i));
		}
		json_object_put(reply);
	} while (
	    !ready && poll(NULL, 0, PROBE_AGAIN_MS) == 0 && probe_left(p) > 0);
}

static void
probe_end(struct probe *p)
{
	if (p->sock != -1)
		close(p->sock);
	spawn_stop(&p->sup, PROBE_STOP_MS);
	if (p->out != -1)
		close(p->out);
	if (p->log != -1)
		close(p->log);
	if (p->config[0] != '\0')
		(void)unlink(p->config);
	if (p->dir[0] != '\0')
		(void)tree_remove(p->dir);
}

/* Start the session and talk to it. Returns 0, or -1 with the fault set. */
static int
probe_run(struct probe *p, const char *name, struct json_object *entry,
    struct mcp_probed *out, struct fault *fault)
{
	struct buf ready;
	int rv = -1;

	if (probe_files(p, name, entry, fault) == -1 ||
	    probe_start(p, fault) == -1)
		return -1;
	buf_init(&ready, 65536);
	if (probe_line(p, p->out, &ready) == -1)
		probe_why(p, name, fault);
	else if (probe_connect(p, fault) == 0 &&
		 (out->tools = probe_tools(p, name, fault)) != NULL)
		rv = 0;
	buf_free(&ready);
	if (rv == -1)
		return -1;
	out->ms = PROBE_MS - probe_left(p);
	probe_status(p, name, out);
	if (json_object_array_length(out->tools) == 0 &&
	    (out->quarantined == NULL ||
		json_object_array_length(out->quarantined) == 0) &&
	    *icctl_text(out->server, "offers") == '\0') {
		return probe_afar(p, name, out->server, fault);
	}
	if (p->how->call == NULL)
		return 0;
	out->answer = probe_tool(p, name, fault);
	return out->answer != NULL ? 0 : -1;
}

int
mcp_probe_as(const char *name, struct json_object *entry,
    const struct mcp_probe_how *how, struct mcp_probed *out,
    struct fault *fault)
{
	struct probe p = {
	    .sup = SPAWNED_INIT, .out = -1, .log = -1, .sock = -1, .how = how};
	struct json_object *copy =
	    entry != NULL ? probe_entry(entry, how->bare) : NULL;
	int rv = -1;

	*out = (struct mcp_probed){0};
	clock_gettime(CLOCK_MONOTONIC, &p.began);
	if (copy == NULL && entry != NULL)
		fault_set(fault, "%s: out of memory", name);
	else
		rv = probe_run(&p, name, copy, out, fault);
	if (rv == -1)
		probe_names(&p, fault);
	probe_end(&p);
	json_object_put(copy);
	return rv;
}

void
mcp_probed_free(struct mcp_probed *out)
{
	json_object_put(out->tools);
	json_object_put(out->noted);
	json_object_put(out->quarantined);
	json_object_put(out->server);
	json_object_put(out->answer);
	*out = (struct mcp_probed){0};
}

struct json_object *
mcp_probe(const char *name, struct json_object *entry, bool bare,
    struct json_object **noted, struct fault *fault)
{
	const struct mcp_probe_how how = {.bare = bare};
	struct json_object *tools = NULL;
	struct mcp_probed out;

	if (mcp_probe_as(name, entry, &how, &out, fault) == 0)
		tools = json_object_get(out.tools);
	if (noted != NULL && tools != NULL)
		*noted = json_object_get(out.noted);
	mcp_probed_free(&out);
	return tools;
}
