/* SPDX-License-Identifier: ISC */
/*
 * Configures a policyd that is only asked, as supervisor/start/setup.c does for a
 * session: settings, protected paths, servers, the workspace in the view of
 * each, files.
 */
#include "icctl/policy/priv.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *
user_home(void)
{
	const char *env = getenv("HOME");
	struct passwd *pw;

	if (env != NULL && env[0] == '/' && strlen(env) < 4096)
		return env;
	pw = getpwuid(geteuid());
	return pw != NULL && pw->pw_dir[0] == '/' ? pw->pw_dir : "";
}

static int
send_protect(struct policyd *p, const char *path, struct fault *fault)
{
	struct msg_PROTECT m;
	char cwd[PATH_MAX], full[2 * PATH_MAX];

	if (path[0] != '/') {
		if (getcwd(cwd, sizeof(cwd)) == NULL)
			return fault_errno(fault, "--protect %s", path);
		snprintf(full, sizeof(full), "%s/%s", cwd, path);
		path = full;
	}
	m.path = span_str(path);
	if (m.path.len > 4096)
		return fault_set(fault, "--protect: path too long");
	policyd_send(p, MSG_PROTECT, &m, -1);
	return 0;
}

static int
send_settings(struct policyd *p, const struct icctl *ctl,
    const struct policy_opts *o, bool session, struct fault *fault)
{
	struct msg_SETTINGS set = {.hold_ms = 300000,
	    .ask = 1,
	    .redact = 1,
	    .tool_bytes = PROTO_TOOL_BYTES,
	    .server_bytes = PROTO_SERVER_BYTES,
	    .list_bytes = PROTO_LIST_BYTES,
	    .home = span_str(user_home())};

	policyd_send(p, MSG_SETTINGS, &set, -1);
	for (unsigned i = 0; i < o->nprotect; i++)
		if (send_protect(p, o->protect[i], fault) == -1)
			return -1;
	if (session && ctl->home[0] == '/')
		return send_protect(p, ctl->home, fault);
	return 0;
}

static int
add_server(struct policyd *p, struct span name)
{
	/* "proxy" is reserved for the virtual server. */
	if (name.len == 0 || name.len > 64 || span_is(name, "proxy") ||
	    memchr(name.p, '\0', name.len) != NULL) {
		errno = EINVAL;
		return -1;
	}
	for (unsigned i = 0; i < p->nservers; i++)
		if (span_is(name, p->names[i]))
			return 0;
	if (p->nservers == PROTO_MAX_SERVERS) {
		errno = E2BIG;
		return -1;
	}
	if ((p->names[p->nservers] = span_dup(name)) == NULL)
		return -1;
	p->nservers++;
	return 0;
}

/*
 * Add the servers in options, those that have a workspace, and the annotated
 * ones.
 */
static int
name_servers(struct policyd *p, const struct policy_opts *o,
    const struct policy_set *set, struct fault *fault)
{
	struct value_pool *pool = NULL;
	const struct value *v;
	const char *eq;

	for (unsigned i = 0; i < o->ntrust; i++)
		if (add_server(p, span_str(o->trust[i])) == -1)
			return fault_errno(fault, "--trust %s", o->trust[i]);
	for (unsigned i = 0; i < o->ndomains; i++) {
		if ((eq = strchr(o->domains[i], '=')) == NULL)
			return fault_set(fault,
			    "--allow-domains %s: must be "
			    "SERVER=HOST[,HOST...]",
			    o->domains[i]);
		if (eq[1] == '\0')
			return fault_set(fault,
			    "--allow-domains %s: names no host; without the "
			    "option the server has no list of its own",
			    o->domains[i]);
		if (add_server(p, span_of(o->domains[i],
				      (size_t)(eq - o->domains[i]))) == -1)
			return fault_errno(
			    fault, "--allow-domains %s", o->domains[i]);
	}
	(void)add_server(p, SPAN("filesystem"));
	(void)add_server(p, SPAN("git"));
	v = policy_tree(&set->files[PROTO_RULES_ANNOTATIONS], &pool);
	v = v == NULL ? NULL : value_get(v, "servers");
	for (v = v == NULL ? NULL : v->child; v != NULL; v = v->next)
		(void)add_server(p, v->key);
	value_pool_free(pool);
	return 0;
}

/* Write the names from all options for the server, separated by newlines. */
static void
server_domains(const struct policy_opts *o, const char *name, struct buf *out)
{
	size_t n = strlen(name);

	for (unsigned i = 0; i < o->ndomains; i++) {
		const char *s = o->domains[i];

		if (strncmp(s, name, n) != 0 || s[n] != '=')
			continue;
		if (out->len != 0)
			buf_addc(out, '\n');
		for (s += n + 1; *s != '\0'; s++)
			buf_addc(out, *s == ',' ? '\n' : (uint8_t)*s);
	}
}

static int
send_servers(struct policyd *p, const struct policy_opts *o, int workspace,
    const char *host, struct fault *fault)
{
	struct msg_VIEW view = {.path = SPAN("/workspace"),
	    .host = span_str(host),
	    .kind = PROTO_VIEW_WRITE};
	struct msg_SERVER m;
	struct buf domains;

	for (unsigned i = 0; i < p->nservers; i++) {
		m = (struct msg_SERVER){.index = (uint16_t)i,
		    .name = span_str(p->names[i]),
		    .git = strcmp(p->names[i], "git") == 0,
		    .reach = p->reach[i],
		    .cwd = SPAN("/workspace")};
		for (unsigned k = 0; k < o->ntrust; k++)
			if (strcmp(o->trust[k], p->names[i]) == 0)
				m.trusted = 1;
		buf_init(&domains, 16384);
		server_domains(o, p->names[i], &domains);
		m.domains = buf_span(&domains);
		if (domains.failed)
			return fault_set(
			    fault, "--allow-domains %s: too many", p->names[i]);
		policyd_send(p, MSG_SERVER, &m, -1);
		buf_free(&domains);
		view.server = (uint16_t)i;
		policyd_send(
		    p, MSG_VIEW, &view, fcntl(workspace, F_DUPFD_CLOEXEC, 0));
	}
	return 0;
}

/* Use the workspace that was named, or an empty directory. */
static int
send_workspace(
    struct policyd *p, const struct policy_opts *o, struct fault *fault)
{
	const char *dir = o->sandbox, *tmp = getenv("TMPDIR");
	char link[64], host[PATH_MAX];
	ssize_t n;
	int fd, r;

	if (dir == NULL) {
		snprintf(p->temp, sizeof(p->temp), "%s/icctl-policy.XXXXXX",
		    tmp != NULL && tmp[0] == '/' && strlen(tmp) < 3000
			? tmp
			: "/tmp");
		if ((dir = mkdtemp(p->temp)) == NULL) {
			fault_errno(fault, "%s", p->temp);
			p->temp[0] = '\0';
			return -1;
		}
	}
	if ((fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC)) == -1)
		return fault_errno(fault, "--sandbox %s", dir);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if ((n = readlink(link, host, sizeof(host) - 1)) == -1) {
		close(fd);
		return fault_errno(fault, "--sandbox %s", dir);
	}
	host[n] = '\0';
	r = send_servers(p, o, fd, host, fault);
	close(fd);
	return r;
}

/* Send the last kind first, because rules refer to lists. */
static int
send_rules(
    struct policyd *p, const struct policy_set *set, struct policyd_bad *bad)
{
	const struct policy_file *f;
	struct msg_RULES m;

	p->bad = bad;
	for (unsigned k = PROTO_RULES_LAST + 1; k-- > 0;) {
		f = &set->files[k];
		if (f->path == NULL)
			continue;
		m = (struct msg_RULES){.kind = (uint8_t)k,
		    .name = span_str(f->path),
		    .text = span_of(f->text, f->len)};
		p->rules_open++;
		policyd_send(p, MSG_RULES, &m, -1);
	}
	while (p->rules_open != 0 && !p->gone)
		if (policyd_turn(p, -1, NULL) == -1)
			break;
	p->bad = NULL;
	if (p->gone)
		return fault_set(&bad->fault, "policyd ended");
	return p->refused ? -1 : 0;
}

int
policyd_configure(struct policyd *p, const struct icctl *ctl,
    const struct policy_opts *o, const struct policy_set *set, bool session,
    struct policyd_bad *bad)
{
	if (send_settings(p, ctl, o, session, &bad->fault) == -1 ||
	    name_servers(p, o, set, &bad->fault) == -1)
		return -1;
	policyd_afar(p, ctl, o);
	if (send_workspace(p, o, &bad->fault) == -1)
		return -1;
	return send_rules(p, set, bad);
}
