/* SPDX-License-Identifier: ISC */
/*
 * `icctl mcp login`: logs in at a remote MCP server, outside every sandbox. It
 * shows where the login leads before the browser opens, and asks if the hosts
 * do not belong together.
 */
#include "icctl/mcp/login/login.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/json_get.h"
#include "base/jsonfile.h"
#include "common/log.h"
#include "files/config.h"
#include "icctl/mcp/mcp.h"
#include "icctl/words.h"

#define LOGIN_SCOPES 64U

static int
usage(void)
{
	puts(
	    "usage: icctl mcp login [--no-browser] [--callback-port N] "
	    "[--scope SCOPE]... [--yes] NAME\n\n"
	    "Logs in at a remote MCP server with OAuth. Shows where the login "
	    "leads and which\nscopes it asks for, opens your browser, and "
	    "keeps "
	    "the tokens where only the\nserver's keyd reads them. Sessions "
	    "that "
	    "run use the login at once, and renew it.\n\n"
	    "  --no-browser       print the address, and take the one at which "
	    "the browser ended\n"
	    "  --callback-port N  the port of 127.0.0.1 that the browser comes "
	    "back to\n"
	    "  --scope SCOPE      ask for this one as well; may be repeated\n"
	    "  --yes              do not ask\n\n"
	    "To see logins: icctl mcp status. To end one: icctl mcp logout "
	    "NAME");
	return ICCTL_OK;
}

/* Take the server's address apart. Returns 0, or -1 after the reason. */
static int
open_place(struct login *l)
{
	struct config_upstream up;
	const char *why = "", *path;
	char *plain;
	int rv;

	if (strncmp(l->url, "https://", 8) != 0) {
		warnx("%s: its address, %s, is not https: no token is sent "
		      "there",
		    l->name, l->url);
		return -1;
	}
	if (!get_true(l->entry, "allowPrivate") &&
	    plan_place(l->url, &l->at, &why) == 0)
		return 0;
	/* A person wrote it: it may be an address, or of this network. */
	plain = strndup(l->url, strcspn(l->url, "?"));
	rv = plain == NULL ? -1 : config_url(plain, &up, &why);
	free(plain);
	if (rv == -1) {
		warnx("%s: \"%s\": %s", l->name, l->url, why);
		return -1;
	}
	path = l->url + 8 + strcspn(l->url + 8, "/?");
	if (strlen(path) >= PROTO_MAX_PLACE) {
		warnx("%s: its path is too long", l->name);
		return -1;
	}
	snprintf(l->at.host, sizeof(l->at.host), "%s", up.host);
	snprintf(l->at.path, sizeof(l->at.path), "%s%s",
	    path[0] != '/' ? "/" : "", path);
	l->at.port = up.port;
	l->private_ok = true;
	return 0;
}

/*
 * Check what the entry says of the login: one that is misspelled would be an
 * issuer that nobody asked for. Returns 0, or -1 after the reason.
 */
static int
open_oauth(const struct login *l)
{
	static const char *const keys[] = {"callbackPort", "clientId",
	    "clientIdMetadata", "issuer", "scopes", NULL};
	struct fault fault = {""};
	const struct jsonfile j = {.file = l->own.name, .fault = &fault};
	struct json_object *o = NULL;
	const char *text;
	int64_t port;
	char where[100];
	int rv;

	snprintf(where, sizeof(where), "%.64s.oauth", l->name);
	rv = jsonfile_object(&j, l->entry, l->name, "oauth", &o);
	if (rv == 1 && (jsonfile_known(&j, o, where, keys) == -1 ||
			   jsonfile_int(&j, o, where, "callbackPort", 1, 65535,
			       &port) == -1))
		rv = -1;
	for (size_t i = 1; rv == 1 && i < 4; i++)
		if (jsonfile_str(&j, o, where, keys[i], &text) == -1)
			rv = -1;
	if (rv == -1)
		warnx("%s", fault.text);
	return rv == -1 ? -1 : 0;
}

static int
open_entry(struct login *l)
{
	struct fault fault;

	if ((l->entry = own_find(&l->own, l->name, &fault)) == NULL) {
		warnx("%s", fault.text);
		return -1;
	}
	l->url = get_str(l->entry, "url", NULL);
	l->ca = get_str(l->entry, "ca", NULL);
	l->oauth = get_typed(l->entry, "oauth", json_type_object);
	if (l->url == NULL) {
		warnx("%s is a program on this machine: it has no login. Keys "
		      "of such servers: \"serverCredentials\" in config.json",
		    l->name);
		return -1;
	}
	files_provider(l->name, l->provider);
	files_name(&l->files, l->own.paths.home, l->provider);
	return 0;
}

int
login_open(struct login *l, struct icctl *ctl, const char *name)
{
	struct fault fault;

	*l = (struct login){.ctl = ctl,
	    .name = name,
	    .said = {-1, -1},
	    .listener = -1,
	    .diag = -1,
	    .proxy.cred = CREDENTIAL_INIT,
	    .listen_io = LOOP_IO_INIT,
	    .stdin_io = LOOP_IO_INIT};
	for (unsigned i = 0; i < BOX_COUNT; i++)
		l->boxes[i] =
		    (struct box){.kind = (enum box_kind)i, .sp = SPAWNED_INIT};
	if (own_open(&l->own, &fault) == -1) {
		warnx("%s", fault.text);
		return -1;
	}
	return open_entry(l);
}

void
login_close(struct login *l)
{
	boxes_stop(l);
	if (l->listener != -1)
		close(l->listener);
	if (l->diag != -1)
		close(l->diag);
	way_close(l);
	own_close(&l->own);
	explicit_bzero(l->pasted, sizeof(l->pasted));
}

static void
show_host(const char *what, const char *url)
{
	char vis[600];

	if (url[0] != '\0')
		printf("  %-14s %s\n", what,
		    log_vis(span_str(url), vis, sizeof(vis)));
}

/* Returns the host of an address that was checked, in `dst`. */
static const char *
host_of(const char *url, char dst[254])
{
	struct place p;
	const char *why;

	dst[0] = '\0';
	if (url[0] != '\0' && plan_place(url, &p, &why) == 0)
		memcpy(dst, p.host, sizeof(p.host));
	return dst;
}

/* Returns true if all hosts have the server's owner, as far as names show. */
static bool
belong(const struct login *l, bool *strange)
{
	const char *urls[] = {l->issuer, l->server.authorization,
	    l->server.token, l->server.registration, l->server.revocation};
	char host[254];
	bool all = true;

	for (size_t i = 0; i < nitems(urls); i++) {
		if (urls[i][0] == '\0' || host_of(urls[i], host)[0] == '\0')
			continue;
		all = all && plan_belong(l->at.host, host);
		*strange = *strange || strstr(host, "xn--") != NULL;
	}
	return all;
}

/* Show where the login leads. Returns 0, or -1 if the person does not want it.
 */
static int
show(const struct login *l)
{
	bool strange = strstr(l->at.host, "xn--") != NULL, together;
	char vis[PROTO_MAX_SCOPES + 1];

	printf("Login of %s:\n", l->name);
	show_host("server", l->url);
	show_host("issuer", l->issuer);
	show_host("your browser", l->server.authorization);
	show_host("tokens from", l->server.token);
	show_host("registers at", l->server.registration);
	show_host("revokes at", l->server.revocation);
	printf("  %-14s %s\n", "scopes",
	    l->wanted[0] != '\0'
		? log_vis(span_str(l->wanted), vis, sizeof(vis))
		: "(the server does not name any)");
	together = belong(l, &strange);
	if (l->guessed)
		puts("The server publishes no address for logins; these are "
		     "those that old servers have.");
	if (strange)
		puts("A host begins with xn--: its name is in letters of "
		     "another script, and may look like a name that it is "
		     "not.");
	if (!together)
		puts("These hosts do not belong together, as far as their "
		     "names show. Whoever runs the ones above gets a token "
		     "for the server.");
	(void)fflush(stdout);
	if (l->yes || (together && !strange && !l->guessed))
		return 0;
	if (!icctl_person()) {
		warnx("%s: nobody is here to say yes; --yes says so", l->name);
		return -1;
	}
	return icctl_confirm("Log in there?") ? 0 : -1;
}

static int
wanted(struct login *l)
{
	struct json_object *said = files_said(&l->files), *list;
	const char *more[LOGIN_SCOPES], *one;
	size_t n = words_list("--scope", more, LOGIN_SCOPES);
	int rv = 0;

	if (n > LOGIN_SCOPES) {
		warnx("mcp login: more than %u scopes", LOGIN_SCOPES);
		rv = -1;
	}
	for (size_t i = 0; rv == 0 && i < n; i++)
		rv = plan_scopes(l->wanted, more[i]);
	/* Scopes of an earlier login at this issuer are asked for again. */
	list = get_typed(said, "asked", json_type_array);
	if (n != 0 && list != NULL &&
	    strcmp(get_str(said, "issuer", ""), l->issuer) == 0)
		for (size_t i = 0;
		     rv == 0 && i < json_object_array_length(list); i++) {
			one = json_object_get_string(
			    json_object_array_get_idx(list, i));
			rv = plan_scopes(l->wanted, one != NULL ? one : "");
		}
	json_object_put(said);
	if (rv == -1 && n <= LOGIN_SCOPES)
		warnx("mcp login: the scopes have more than %u bytes",
		    PROTO_MAX_SCOPES);
	return rv;
}

static void
outcome(const struct login *l)
{
	char vis[PROTO_MAX_SCOPES + 1], text[32];
	int64_t left = (int64_t)l->end.expires - (int64_t)time(NULL);

	printf("Logged in at %s.\n", l->name);
	if (l->granted[0] != '\0' && strcmp(l->granted, l->wanted) != 0)
		printf("Granted scopes: %s\n",
		    log_vis(span_str(l->granted), vis, sizeof(vis)));
	if (l->end.expires != 0)
		printf("The token is good for %s",
		    icctl_span(left * 1000, text, sizeof(text)));
	else
		printf("The server does not say how long the token is good");
	puts(l->end.renews != 0
		 ? ", and is renewed by itself."
		 : ", and cannot be renewed: then log in again.");
	(void)fflush(stdout);
}

static int
go(struct login *l)
{
	int one, rv;

	if (open_oauth(l) == -1 || open_place(l) == -1 ||
	    files_dir(&l->files) == -1 || (one = files_one(l)) == -1)
		return ICCTL_FAILED;
	rv = login_start(l) == -1 ? -1 : discover(l);
	if (rv == 0 && l->server.good) {
		if (wanted(l) == -1 || show(l) == -1 ||
		    browser_listen(l) == -1 || client_find(l) == -1 ||
		    browser_go(l) == -1) {
			rv = -1;
		} else {
			outcome(l);
			files_tell(l);
		}
	}
	close(one);
	return rv == -1 ? ICCTL_FAILED : ICCTL_OK;
}

int
mcp_login(struct icctl *ctl, int argc, char **argv)
{
	static struct login l;
	const char *port;
	uint64_t n = 0;
	int r = ICCTL_FAILED;

	if (words_help())
		return usage();
	if (argc != 2)
		return words_usage();
	port = words_option("--callback-port");
	if (port != NULL &&
	    (span_u64(span_str(port), 65535, &n) == -1 || n == 0)) {
		warnx("mcp login: --callback-port takes a port from 1 to "
		      "65535");
		return ICCTL_USAGE;
	}
	if (login_open(&l, ctl, argv[1]) == 0) {
		l.yes = words_given("--yes");
		l.no_browser = words_given("--no-browser");
		l.callback_port = (unsigned)n;
		r = go(&l);
	}
	login_close(&l);
	return r;
}
