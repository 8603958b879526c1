/* SPDX-License-Identifier: ISC */
/*
 * Signs the commits of a pull while they are in the quarantine. A signed commit
 * is another one: it gets the signature as a header, and the signed parents. Its
 * tree, author, committer and message stay as the agent made them.
 */
#include "repo/pull_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIGN_COMMITS ((size_t)16 << 20)
#define NONE span_of("", 0)

struct signing {
	struct repo_signed list[REPO_MAX_SIGNED];
	char now[REPO_MAX_SIGNED][REPO_OID]; /* their names when signed */
	unsigned n;
	struct buf text; /* list[].commit points into it */
};

/* List the commits, parents first. Returns 0, or -1 with the fault set. */
static int
sign_list(struct pulling *p, struct signing *s, struct span revs,
    struct buf *names, struct fault *fault)
{
	struct span rest, line;

	if (REPO_GIT(p->env, &p->view, revs, names, fault, "rev-list",
		"--reverse", "--topo-order", "--stdin") != 0)
		return -1;
	rest = buf_span(names);
	while (span_line(&rest, &line)) {
		if (s->n == REPO_MAX_SIGNED)
			return fault_set(fault,
			    "more than %u commits are not signed at once: "
			    "name a branch that has fewer with --branch",
			    REPO_MAX_SIGNED);
		if (!repo_oid_ok(line))
			return fault_set(fault, "git gave no commit");
		(void)span_copy(line, s->list[s->n++].oid, REPO_OID);
	}
	return 0;
}

/* Take the commits out of what `git cat-file --batch` prints. */
static int
sign_read(struct signing *s, struct fault *fault)
{
	struct span rest = buf_span(&s->text), line, word;
	uint64_t size;

	for (unsigned i = 0; i < s->n; i++) {
		const size_t n = strlen(s->list[i].oid);

		if (!span_line(&rest, &line) || line.len <= n + 8 ||
		    memcmp(line.p, s->list[i].oid, n) != 0 ||
		    memcmp(line.p + n, " commit ", 8) != 0)
			return fault_set(fault, "git gave no commit");
		word = span_of(line.p + n + 8, line.len - n - 8);
		if (span_u64(word, SIGN_COMMITS, &size) == -1 ||
		    rest.len < size + 1)
			return fault_set(fault, "git gave no commit");
		s->list[i].commit = span_of(rest.p, (size_t)size);
		rest = span_of(rest.p + size + 1, rest.len - (size_t)size - 1);
	}
	return 0;
}

/* Returns the name that a parent has now. */
static struct span
sign_parent(const struct signing *s, unsigned upto, struct span oid)
{
	for (unsigned i = 0; i < upto; i++)
		if (span_is(oid, s->list[i].oid))
			return span_str(s->now[i]);
	return oid;
}

/*
 * Write the headers without a signature, with the parents' names of now.
 * Returns what follows them, which begins with an empty line.
 */
static struct span
sign_headers(const struct signing *s, unsigned i, struct buf *b)
{
	struct span rest = s->list[i].commit, before = rest, line;
	bool skip = false;

	while (span_line(&rest, &line) && line.len != 0) {
		skip = line.p[0] == ' '
			   ? skip
			   : span_starts(line, SPAN("gpgsig "))
			   || span_starts(line, SPAN("gpgsig-sha256 "));
		if (span_starts(line, SPAN("parent "))) {
			buf_adds(b, "parent ");
			line = sign_parent(
			    s, i, span_of(line.p + 7, line.len - 7));
		}
		if (!skip) {
			buf_addspan(b, line);
			buf_addc(b, '\n');
		}
		before = rest;
	}
	return before;
}

/* Add the signature as a header of several lines. */
static void
sign_add(struct buf *b, const char *format, struct span signature)
{
	buf_adds(b, strcmp(format, "sha256") == 0 ? "gpgsig-sha256 " : "gpgsig ");
	while (signature.len != 0 && signature.p[signature.len - 1] == '\n')
		signature.len--;
	for (size_t i = 0; i < signature.len; i++) {
		buf_addc(b, signature.p[i]);
		if (signature.p[i] == '\n')
			buf_addc(b, ' ');
	}
	buf_addc(b, '\n');
}

static int
sign_one(struct pulling *p, struct signing *s, unsigned i, struct fault *fault)
{
	const struct repo_signer *signer = p->how->signer;
	struct buf plain, whole, signature, name;
	struct span body, oid;
	int rv = -1;

	buf_init(&plain, SIGN_COMMITS);
	buf_init(&whole, SIGN_COMMITS);
	buf_init(&signature, 65536);
	buf_init(&name, 4096);
	body = sign_headers(s, i, &plain);
	buf_addspan(&whole, buf_span(&plain));
	buf_addspan(&plain, body);
	if (!plain.failed &&
	    signer->sign(signer->arg, buf_span(&plain), &signature, fault) ==
		-1)
		goto out;
	sign_add(&whole, p->how->work->record.format, buf_span(&signature));
	buf_addspan(&whole, body);
	if (plain.failed || whole.failed) {
		fault_set(fault, "commit %s is too large", s->list[i].oid);
		goto out;
	}
	if (REPO_GIT(p->env, &p->view, buf_span(&whole), &name, fault,
		"hash-object", "-t", "commit", "-w", "--stdin") != 0)
		goto out;
	oid = buf_span(&name);
	if (oid.len == 0 || !repo_oid_ok(span_of(oid.p, oid.len - 1)) ||
	    span_copy(span_of(oid.p, oid.len - 1), s->now[i], REPO_OID) == -1)
		fault_set(fault, "git gave no name for a signed commit");
	else
		rv = 0;
out:
	buf_free(&plain);
	buf_free(&whole);
	buf_free(&signature);
	buf_free(&name);
	return rv;
}

/* Remove every pack but one from the quarantine. */
static int
sign_only(struct pulling *p, struct span pack)
{
	struct dirent *e;
	int fd;
	DIR *d;

	fd = openat(p->quarantine, "objects/pack",
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd == -1 || (d = fdopendir(fd)) == NULL)
		return -1;
	while ((e = readdir(d)) != NULL)
		if (strncmp(e->d_name, "pack-", 5) == 0 &&
		    strncmp(e->d_name + 5, (const char *)pack.p, pack.len) != 0)
			(void)unlinkat(dirfd(d), e->d_name, 0);
	closedir(d);
	return 0;
}

/* Put the signed commits, and all that they need, into one pack. */
static int
sign_pack(struct pulling *p, struct fault *fault)
{
	struct buf in, out;
	struct span pack;
	int rv = -1;

	pull_revs(p, &in);
	buf_init(&out, 4096);
	if (REPO_GIT(p->env, &p->view, buf_span(&in), &out, fault,
		"pack-objects", "--revs", "--delta-base-offset", "-q",
		"objects/pack/pack") == 0) {
		pack = buf_span(&out);
		if (pack.len != 0)
			pack.len--;
		if (!repo_oid_ok(pack) || sign_only(p, pack) == -1)
			fault_set(fault, "the signed commits cannot be packed");
		else
			rv = 0;
	}
	buf_free(&in);
	buf_free(&out);
	return rv;
}

int
pull_sign(struct pulling *p, struct fault *fault)
{
	const struct repo_signer *signer = p->how->signer;
	static struct signing s;
	struct buf in, names;
	int rv;

	s.n = 0;
	pull_revs(p, &in);
	buf_init(&names, 1U << 20);
	buf_init(&s.text, SIGN_COMMITS);
	rv = sign_list(p, &s, buf_span(&in), &names, fault);
	if (rv == 0 && s.n != 0) {
		rv = REPO_GIT(p->env, &p->view, buf_span(&names), &s.text,
			 fault, "cat-file", "--batch") == 0
			 ? sign_read(&s, fault)
			 : -1;
		if (rv == 0)
			rv = signer->show(signer->arg, s.list, s.n, fault);
		for (unsigned i = 0; rv == 0 && i < s.n; i++)
			rv = sign_one(p, &s, i, fault);
		for (unsigned i = 0; rv == 0 && i < p->how->n; i++) {
			struct span now = sign_parent(
			    &s, s.n, span_str(p->how->list[i].oid));

			/* It may be the text itself. */
			if (now.p != (const uint8_t *)p->how->list[i].oid)
				(void)span_copy(
				    now, p->how->list[i].oid, REPO_OID);
		}
		if (rv == 0)
			rv = sign_pack(p, fault);
	}
	buf_free(&in);
	buf_free(&names);
	buf_free(&s.text);
	return rv;
}
