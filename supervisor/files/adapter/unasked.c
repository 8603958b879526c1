/* SPDX-License-Identifier: ISC */
/*
 * In ic-reader: the member "unasked" of an adapter, hosts that its program asks
 * for by itself and does without.
 */
#include "files/adapter/adapter.h"

#include <string.h>

#include "base/jsonfile.h"
#include "common/buf.h"
#include "common/http/hostname.h"

#define UNASKED_PROGRAM                                                        \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
#define UNASKED_MAX 32U

/* Check "HOST" or "HOST PROGRAM", as mitmd compares them. */
static bool
unasked_ok(const char *entry)
{
	size_t n = strcspn(entry, " ");
	char host[HOSTNAME_MAX + 1];
	const char *why, *program;

	if (hostname_read(span_of(entry, n), host, &why) == -1 ||
	    hostname_public(host, &why) == -1 || strlen(host) != n ||
	    strncmp(entry, host, n) != 0)
		return false;
	if (entry[n] == '\0')
		return true;
	program = entry + n + 1;
	n = strlen(program);
	return n > 0 && n <= 32 && strspn(program, UNASKED_PROGRAM) == n;
}

int
adapter_unasked_read(
    struct adapter *a, const struct jsonfile *j, struct json_object *root)
{
	char **list = NULL;
	struct buf b;
	int rv = -1;

	buf_init(&b, PROTO_MAX_UNASKED);
	if (jsonfile_strings(j, root, "", "unasked", UNASKED_MAX, &list) == -1)
		goto out;
	for (char **e = list; e != NULL && *e != NULL; e++) {
		if (!unasked_ok(*e)) {
			jsonfile_bad(j, "unasked", *e,
			    "must be a public host's name in lower case, and "
			    "may be followed by a space and the program's name");
			goto out;
		}
		buf_adds(&b, *e);
		buf_addc(&b, '\n');
	}
	if (b.failed) {
		jsonfile_bad(j, "", "unasked", "is too long");
		goto out;
	}
	if (list != NULL && (a->unasked = span_dup(buf_span(&b))) == NULL) {
		fault_errno(j->fault, "%s", j->file);
		goto out;
	}
	rv = 0;
out:
	jsonfile_strings_free(list);
	buf_free(&b);
	return rv;
}
