/* SPDX-License-Identifier: ISC */
#include "resume/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonfile.h"
#include "base/own_file.h"

/* Every member that ready_session_json() and icctl write. */
static const char *const record_keys[] = {"adapter", "agent", "boot",
    "breakoutTest", "confinement", "constitution", "conversation", "format", "host", "image",
    "limits", "missing", "model", "persona", "pid", "pidStart", "policy", "published", "quotaUntil",
    "runsLater", "runtime", "session", "started", "startedBy", "state",
    "status", "talked", "transport", "version", "why",
    "workspace", "workspaceDev", "workspaceIno", "workspaceReadOnly", NULL};

bool
record_name_ok(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz"
			     "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");

	return n != 0 && n <= 64 && s[n] == '\0' && s[0] != '-' && s[0] != '.';
}

/* Copy a string, which may have no NUL and no more than fits. */
static int
record_text(const struct jsonfile *j, struct json_object *o, const char *key,
    char *dst, size_t cap)
{
	struct json_object *v;
	const char *s = NULL;
	int rv;

	if ((rv = jsonfile_str(j, o, "", key, &s)) != 1)
		return rv;
	(void)json_object_object_get_ex(o, key, &v);
	if (strlen(s) != (size_t)json_object_get_string_len(v) ||
	    strlcpy(dst, s, cap) >= cap)
		return jsonfile_bad(j, "", key, "is not of this program");
	return 1;
}

/* Read a number that is written as a string, because JSON's are too small. */
static int
record_u64(const struct jsonfile *j, struct json_object *o, const char *key,
    uint64_t *out)
{
	char text[24] = "", *end;
	int rv;

	if ((rv = record_text(j, o, key, text, sizeof(text))) != 1)
		return rv;
	errno = 0;
	*out = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0)
		return jsonfile_bad(j, "", key, "must be a number");
	return 1;
}

static int
record_fill(
    struct record *r, const struct jsonfile *j, struct json_object *o)
{
	int64_t format = 0;

	if (jsonfile_int(j, o, "", "format", 0, INT32_MAX, &format) == -1)
		return -1;
	if (format != RECORD_FORMAT)
		return fault_set(j->fault,
		    "this session was made by another version of IronCurtain, "
		    "and cannot be resumed. Its work and its log are kept; "
		    "start a new session in the same directory: icctl start "
		    "--workspace DIR");
	if (jsonfile_known(j, o, "", record_keys) == -1 ||
	    record_text(j, o, "agent", r->agent, sizeof(r->agent)) == -1 ||
	    record_text(j, o, "adapter", r->adapter, sizeof(r->adapter)) ==
		-1 ||
	    record_text(j, o, "state", r->state, sizeof(r->state)) == -1 ||
	    record_text(j, o, "host", r->host, sizeof(r->host)) == -1 ||
	    record_text(j, o, "boot", r->boot, sizeof(r->boot)) == -1 ||
	    record_text(j, o, "why", r->why, sizeof(r->why)) == -1 ||
	    record_text(j, o, "workspace", r->workspace,
		sizeof(r->workspace)) == -1 ||
	    record_text(j, o, "conversation", r->conversation,
		sizeof(r->conversation)) == -1 ||
	    record_text(j, o, "quotaUntil", r->quota, sizeof(r->quota)) == -1 ||
	    record_u64(j, o, "workspaceDev", &r->dev) == -1 ||
	    record_u64(j, o, "workspaceIno", &r->ino) == -1 ||
	    jsonfile_bool(j, o, "", "talked", &r->talked) == -1 ||
	    jsonfile_int(j, o, "", "status", 0, 255, &r->status) == -1)
		return -1;
	if (r->conversation[0] != '\0' && !record_name_ok(r->conversation))
		return jsonfile_bad(j, "", "conversation",
		    "is not the name of a conversation");
	if (r->workspace[0] != '/' || r->ino == 0 || r->host[0] == '\0' ||
	    r->agent[0] == '\0')
		return jsonfile_bad(j, "", "workspace",
		    "and \"host\" and \"agent\" must be there");
	return 0;
}

int
record_read(
    struct record *r, int dirfd, const char *dir, struct fault *fault)
{
	struct jsonfile j = {"session.json", fault};
	struct json_object *o;
	struct fault bad;
	int rv;

	memset(r, 0, sizeof(*r));
	if ((o = own_file_read(dirfd, dir, "session.json", &bad)) == NULL) {
		rv = errno;
		if (rv == ENOENT)
			*fault = bad;
		else
			(void)fault_set(fault,
			    "%.1500s. Without this file the session cannot be "
			    "resumed; its work and its log are kept",
			    bad.text);
		errno = rv;
		return -1;
	}
	rv = record_fill(r, &j, o);
	json_object_put(o);
	errno = EINVAL;
	return rv;
}
