/* SPDX-License-Identifier: ISC */
/*
 * Tests a proxy's URL and the environment variables that hold one: parsed in
 * place, and wiped there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/credential/proxy.h"
#include "supervisor/files/proxy_url.h"
#include "tap.h"

extern char **environ;

/* icsupervisor has its proxy until it ends. */
static void
proxy_free(struct proxy *p)
{
	if (p->cred.fd != -1)
		close(p->cred.fd);
	p->cred.fd = -1;
	free(p->direct);
	free(p->ca);
	p->direct = p->ca = NULL;
}

/* clang-format off */
static const struct {
	const char *url;
	const char *host; /* NULL: refused */
	unsigned port;
	const char *secret;
	const char *wiped;
} urls[] = {
	{"http://proxy:3128", "proxy", 3128, "", "http://proxy:3128"},
	{"http://proxy:3128/", "proxy", 3128, "", "http://proxy:3128/"},
	{"proxy:3128", "proxy", 3128, "", "proxy:3128"},
	{"Proxy.Example.", "proxy.example", 80, "", "Proxy.Example."},
	{"http://192.0.2.1", "192.0.2.1", 80, "", "http://192.0.2.1"},
	{"http://[2001:db8::1]:8080", "2001:db8::1", 8080, "",
	    "http://[2001:db8::1]:8080"},
	{"http://[::1]", "::1", 80, "", "http://[::1]"},
	{"http://u:p@proxy:1", "proxy", 1, "u:p", "http://proxy:1"},
	{"u:p@proxy:1", "proxy", 1, "u:p", "proxy:1"},
	{"http://u:p@x@proxy:1", "proxy", 1, "u:p@x", "http://proxy:1"},
	{"http://u%40x:p%2F@proxy/", "proxy", 80, "u%40x:p%2F",
	    "http://proxy/"},
	{"http://@proxy", "proxy", 80, "", "http://proxy"},
	{"http://u:p@[::1]:8", "::1", 8, "u:p", "http://[::1]:8"},
	{"https://u:p@proxy", NULL, 0, "", "https://proxy"},
	{"socks5h://u:p@proxy", NULL, 0, "", "socks5h://proxy"},
	{"HTTP://proxy", NULL, 0, "", "HTTP://proxy"},
	{"http://u:a/b@proxy", NULL, 0, "", "http://proxy"},
	{"http://u:a#b@proxy", NULL, 0, "", "http://proxy"},
	{"http://proxy/path", NULL, 0, "", "http://proxy/path"},
	{"http://proxy?x", NULL, 0, "", "http://proxy?x"},
	{"http://proxy:", NULL, 0, "", "http://proxy:"},
	{"http://proxy:0", NULL, 0, "", "http://proxy:0"},
	{"http://proxy:65536", NULL, 0, "", "http://proxy:65536"},
	{"http://proxy:80x", NULL, 0, "", "http://proxy:80x"},
	{"http://", NULL, 0, "", "http://"},
	{"http://u:p@", NULL, 0, "", "http://"},
	{"http://2130706433", NULL, 0, "", "http://2130706433"},
	{"http://a b", NULL, 0, "", "http://a b"},
	{"http://a\r\nX: y", NULL, 0, "", "http://a\r\nX: y"},
};
/* clang-format on */

static void
test_urls(void)
{
	for (size_t i = 0; i < nitems(urls); i++) {
		struct proxy_url u = {.port = 0};
		const char *why = NULL;
		char copy[128], was[128] = "";
		size_t n = strlen(urls[i].url);
		int rv = proxy_url(urls[i].url, &u, &why);

		if (urls[i].host == NULL)
			ok(rv == -1 && why != NULL, "refused: %.*s",
			    (int)strcspn(urls[i].url, "\r"), urls[i].url);
		else
			ok(rv == 0 && strcmp(u.host, urls[i].host) == 0 &&
				u.port == urls[i].port &&
				span_is(u.secret, urls[i].secret),
			    "taken: %s", urls[i].url);
		if (why != NULL)
			ok(strstr(why, "u:") == NULL &&
				strstr(why, "p@") == NULL,
			    "which says nothing of it");
		memset(copy, 'x', sizeof(copy));
		memcpy(copy, urls[i].url, n + 1);
		proxy_url_wipe(copy);
		is_str(copy, urls[i].wiped, "wiped");
		if (strlen(copy) < n)
			is_mem(copy + strlen(copy), n - strlen(copy) + 1, was,
			    n - strlen(copy) + 1, "to the end");
	}
}

static void
env(const char *name, const char *value)
{
	if (value == NULL)
		unsetenv(name);
	else
		setenv(name, value, 1);
}

static int
load(struct proxy *p, struct config *cfg, struct fault *fault)
{
	memset(cfg, 0, sizeof(*cfg));
	fault->text[0] = '\0';
	return proxy_load(p, cfg, fault);
}

static void
test_environment(void)
{
	struct fault fault;
	struct config cfg;
	struct proxy p;
	char text[64];
	const struct credential_how how = {.workspace = -1};
	ssize_t n;

	env("https_proxy", NULL);
	env("HTTPS_PROXY", NULL);
	env("NO_PROXY", NULL);
	env("no_proxy", "a.example, .b.example:8,<local>,,10.0.0.0/8 ");
	ok(load(&p, &cfg, &fault) == 0 && !p.set, "no proxy");
	proxy_free(&p);
	env("HTTPS_PROXY", "http://u:s%65cret@proxy:3128");
	env("HTTP_PROXY", "http://u:s%65cret@proxy:3128");
	env("all_proxy", "u:s%65cret@proxy");
	env("MY_NAME", "u:s%65cret@proxy");
	ok(load(&p, &cfg, &fault) == 0 && p.set && p.auth && p.escaped &&
		p.port == 3128 && strcmp(p.host, "proxy") == 0,
	    "HTTPS_PROXY");
	is_str(p.direct, "a.example\n.b.example:8\n10.0.0.0/8\n",
	    "what is no row is left out");
	is_int(p.ndirect, 3, "three rows");
	ok(proxy_credential(&p, &cfg, false, &how, &fault) == 0 && p.cred.fd != -1,
	    "its credential is a descriptor");
	n = read(p.cred.fd, text, sizeof(text));
	is_mem(text, (size_t)(n < 0 ? 0 : n), "u:s%65cret", 10,
	    "with what stood there");
	is_str(
	    getenv("HTTPS_PROXY"), "http://proxy:3128", "and stands no more");
	is_str(getenv("HTTP_PROXY"), "http://proxy:3128", "nor in another");
	is_str(getenv("all_proxy"), "proxy", "nor in a third");
	is_str(getenv("MY_NAME"), "u:s%65cret@proxy", "what names none stays");
	proxy_free(&p);
	env("https_proxy", "http://lower:1");
	ok(load(&p, &cfg, &fault) == 0 && p.port == 1 && !p.auth,
	    "https_proxy goes first");
	proxy_free(&p);
	env("no_proxy", "x,*");
	ok(load(&p, &cfg, &fault) == 0 && !p.set, "no_proxy=*: there is none");
	proxy_free(&p);
	env("https_proxy", "https://u:secret@proxy");
	ok(load(&p, &cfg, &fault) == -1 &&
		strstr(fault.text, "https_proxy: "
				   "TLS to the proxy") != NULL &&
		strstr(fault.text, "secret") == NULL,
	    "one that is not spoken is refused, without its password");
	proxy_free(&p);
}

static void
test_limits(void)
{
	static char many[300 * 16];
	struct fault fault;
	struct config cfg;
	struct proxy p;
	size_t n = 0;

	for (unsigned i = 0; i < 300; i++)
		n += (size_t)snprintf(
		    many + n, sizeof(many) - n, "h%u.example,", i);
	env("https_proxy", "http://proxy");
	env("no_proxy", many);
	ok(load(&p, &cfg, &fault) == -1 &&
		strstr(fault.text, "more than 256 entries") != NULL,
	    "no_proxy with too many rows");
	proxy_free(&p);
}

int
main(void)
{
	test_urls();
	test_environment();
	test_limits();
	return tap_done();
}
