/* SPDX-License-Identifier: ISC */
/*
 * Gives programs of the sandbox the session's proxy and its CA, as the table
 * says: by variables, by files in /etc/ironcurtain, and by mounts over the
 * files of JDKs. Nothing here protects anything: the proxy decides.
 */
#include "box/clients/clients.h"

#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "box/box.h"
#include "box/clients/jdk.h"
#include "box/clients/jks.h"
#include "box/system/envput.h"
#include "box/clients/options.h"
#include "box/clients/table.h"
#include "core/sup.h"

#define CLIENTS_PROPERTIES 65536U /* bytes of a net.properties */
#define CLIENTS_PEM (8U << 20)

/* Append the options of every JVM, with the memory of its machine. */
static void
clients_jvm(struct buf *b)
{
	buf_adds(b, CLIENTS_JVM_OPTIONS);
	if (sup.config.limits.memory_mb != 0)
		buf_printf(b, " -XX:MaxRAM=%llum",
		    (unsigned long long)sup.config.limits.memory_mb);
}

/* Put a variable that has options, ours if `own`, and then the user's. */
static int
clients_put_options(char **env, size_t *n, size_t max, const char *name,
    enum options_kind kind, bool own, struct fault *fault)
{
	struct buf b;
	int rv;

	buf_init(&b, 8192);
	if (kind == OPTIONS_NODE)
		buf_adds(&b, CLIENTS_NODE_OPTIONS);
	else if (own)
		clients_jvm(&b);
	if (strcmp(name, "MAVEN_OPTS") == 0)
		buf_adds(&b, CLIENTS_MAVEN_OPTIONS);
	if (!clients_options(&b, kind, getenv(name)))
		sup_note("%s: options that name a file, load code or may hold "
			 "a password are not passed on to the sandbox",
		    name);
	buf_addc(&b, '\0');
	rv = b.failed     ? fault_set(fault, "environment: out of memory")
	     : b.len == 1 ? 0
			  : env_put(env, n, max, name,
				(const char *)buf_span(&b).p + !own, fault);
	buf_free(&b);
	return rv;
}

int
clients_environment(char **env, size_t *n, size_t max, struct fault *fault)
{
	static const struct {
		const char *name, *value;
	} variables[] = {
#define VARIABLE_ROW(name, value) {name, value},
	    CLIENTS_VARIABLES(VARIABLE_ROW)
#undef VARIABLE_ROW
	};
	static const struct {
		const char *name;
		enum options_kind kind;
	} options[] = {
#define OPTIONS_ROW(name, kind) {name, kind},
	    CLIENTS_OPTIONS(OPTIONS_ROW)
#undef OPTIONS_ROW
	};

	for (size_t i = 0; i < nitems(variables); i++)
		if (env_put(env, n, max, variables[i].name, variables[i].value,
			fault) == -1)
			return -1;
	for (size_t i = 0; i < nitems(options); i++)
		if (clients_put_options(env, n, max, options[i].name,
			options[i].kind, true, fault) == -1)
			return -1;
	/* One of the system has our options in its files. */
	return clients_put_options(env, n, max, CLIENTS_JVM_VARIABLE,
	    OPTIONS_JVM, jdk_nth(0) == NULL, fault);
}

/* Write the bundle's certificates in Java's form. */
static int
clients_store(void)
{
	struct buf pem, jks;
	struct stat st;
	uint8_t *p;
	ssize_t got = -1;
	int fd, rv = -1;

	buf_init(&pem, CLIENTS_PEM);
	buf_init(&jks, JKS_MAX);
	fd = openat(sup.session.orientation, "ca-bundle.pem",
	    O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd != -1 && fstat(fd, &st) == 0 &&
	    (p = buf_room(&pem, (size_t)st.st_size)) != NULL)
		got = read(fd, p, (size_t)st.st_size);
	if (got != -1 && got == st.st_size) {
		buf_grow(&pem, (size_t)got);
		if (jks_put(&jks, buf_span(&pem)) != -1 && !jks.failed)
			rv = session_write(sup.session.orientation,
			    CLIENTS_STORE, 0644, buf_span(&jks));
	}
	if (fd != -1)
		close(fd);
	buf_free(&jks);
	buf_free(&pem);
	return rv;
}

/* Append the session's CA in base64, without the lines of PEM. */
static void
clients_ca(struct buf *b)
{
	const char *end = sup.ca_pem + sup.ca_len, *next;

	for (const char *p = sup.ca_pem; p != end; p = next) {
		next = p;
		while (next != end && *next != '\n')
			next++;
		if (p[0] != '-')
			buf_addspan(b, span_of(p, (size_t)(next - p)));
		next += next != end;
	}
}

/* Write the policies by which browsers trust the CA. */
static int
clients_policies(struct fault *fault)
{
	struct buf b;
	int rv = 0;

	buf_init(&b, 65536);
	buf_adds(&b, "{\"CACertificates\":[\"");
	clients_ca(&b);
	buf_adds(&b, "\"]}\n");
	if (b.failed ||
	    session_write(sup.session.orientation, CLIENTS_CHROMIUM, 0644,
		buf_span(&b)) == -1 ||
	    session_write(sup.session.orientation, CLIENTS_FIREFOX, 0644,
		span_str(
		    "{\"policies\":{\"Certificates\":{\"Install\":"
		    "[\"" CLIENTS_CERT "\"]},\"Proxy\":{\"Mode\":\"manual\","
		    "\"HTTPProxy\":\"" CLIENTS_PROXY_HOST ":" CLIENTS_PROXY_PORT
		    "\",\"UseHTTPProxyForAllProtocols\":true,"
		    "\"Passthrough\":\"" CLIENTS_DIRECT "\"}}}\n")) == -1)
		rv = fault_errno(fault, "%s/orientation", sup.session.dir);
	buf_free(&b);
	return rv;
}

int
clients_files(struct fault *fault)
{
	char *file = paths_join(sup.paths.datadir, CLIENTS_NODE);
	int src, rv;

	src = file == NULL ? -1 : open(file, O_RDONLY | O_CLOEXEC);
	rv = src == -1 ? -1
		       : session_copy(sup.session.orientation, CLIENTS_NODE,
			     0644, src, span_str(""));
	if (rv == -1)
		fault_errno(fault, CLIENTS_NODE);
	if (src != -1)
		close(src);
	free(file);
	if (rv == 0)
		rv = clients_policies(fault);
	if (rv == 0 && clients_store() == -1) {
		/* Java then has its own certificates, and no way out. */
		sup_warn(
		    "the certificates of this machine cannot be written in "
		    "Java's form: Java programs do not trust the session's "
		    "CA");
		(void)unlinkat(sup.session.orientation, CLIENTS_STORE, 0);
	}
	return rv;
}

/* Mount a net.properties that ends with the proxy. */
static void
clients_bind_properties(struct box *b, const char *path)
{
	struct buf text;
	ssize_t got;
	int fd;

	if ((fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)) ==
	    -1)
		return;
	buf_init(&text, CLIENTS_PROPERTIES + sizeof(CLIENTS_JDK_LINES));
	if (buf_room(&text, CLIENTS_PROPERTIES) != NULL &&
	    (got = read(fd, buf_room(&text, CLIENTS_PROPERTIES),
		 CLIENTS_PROPERTIES)) > 0 &&
	    got < (ssize_t)CLIENTS_PROPERTIES) {
		buf_grow(&text, (size_t)got);
		buf_adds(&text, CLIENTS_JDK_LINES);
		if (!text.failed)
			box_data(b, path, buf_span(&text));
	}
	buf_free(&text);
	close(fd);
}

void
clients_bind(struct box *b)
{
	const struct jdk_file *f;
	struct stat st;
	int fd;

	for (size_t i = 0; (f = jdk_nth(i)) != NULL; i++) {
		if (strncmp(f->path, "/etc/", 5) == 0 && !box_etc_has(f->path))
			continue;
		if (f->kind == JDK_PROPERTIES) {
			clients_bind_properties(b, f->path);
			continue;
		}
		fd = openat(sup.session.orientation, CLIENTS_STORE,
		    O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (fd != -1 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
			box_bind(b, fd, f->path, false);
		if (fd != -1)
			close(fd);
	}
}
