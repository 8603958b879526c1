/* SPDX-License-Identifier: ISC */
#include "repo/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_get.h"
#include "base/json_put.h"
#include "base/own_file.h"
#include "base/session.h"

static bool
text_of(struct json_object *o, const char *key, char *dst, size_t cap)
{
	struct span s = get_span(o, key);

	return s.p != NULL && span_copy(s, dst, cap) == 0;
}

/* Read the members that records of the first version do not have. */
static bool
waiting_of(struct json_object *o, struct repo_record *r)
{
	struct json_object *v;

	if (json_object_object_get_ex(o, "unsaved", &v) &&
	    !text_of(o, "unsaved", r->unsaved, sizeof(r->unsaved)))
		return false;
	if (json_object_object_get_ex(o, "waitingCommits", &v)) {
		r->looked = true;
		r->commits = json_object_get_int64(v);
		r->files = json_object_object_get_ex(o, "waitingFiles", &v)
			       ? json_object_get_int64(v)
			       : 0;
	}
	return r->unsaved[0] == '\0' || repo_oid_ok(span_str(r->unsaved));
}

static bool
pulled_of(struct json_object *o, struct repo_record *r)
{
	struct json_object *list, *v;

	if (!json_object_object_get_ex(o, "pulled", &list) ||
	    !json_object_is_type(list, json_type_array) ||
	    json_object_array_length(list) > REPO_MAX_PULLED)
		return false;
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		v = json_object_array_get_idx(list, i);
		if (!json_object_is_type(v, json_type_string) ||
		    !repo_oid_ok(span_str(json_object_get_string(v))))
			return false;
		(void)span_copy(span_str(json_object_get_string(v)),
		    r->pulled[r->npulled++], REPO_OID);
	}
	return true;
}

int
repo_record_read(
    struct repo_record *r, int dirfd, const char *dir, struct fault *fault)
{
	struct json_object *o;
	bool ok;

	memset(r, 0, sizeof(*r));
	if ((o = own_file_read(dirfd, dir, REPO_RECORD, fault)) == NULL)
		return -1;
	ok = json_object_is_type(o, json_type_object) &&
	     text_of(o, "dir", r->dir, sizeof(r->dir)) &&
	     text_of(o, "url", r->url, sizeof(r->url)) &&
	     text_of(o, "branch", r->branch, sizeof(r->branch)) &&
	     text_of(o, "base", r->base, sizeof(r->base)) &&
	     text_of(o, "start", r->start, sizeof(r->start)) &&
	     text_of(o, "format", r->format, sizeof(r->format)) &&
	     text_of(o, "session", r->session, sizeof(r->session)) &&
	     (r->base[0] == '\0' || repo_oid_ok(span_str(r->base))) &&
	     (r->start[0] == '\0' || repo_oid_ok(span_str(r->start))) &&
	     (r->dir[0] == '\0' || r->dir[0] == '/') &&
	     repo_name_wrong(span_str(r->session)) == NULL &&
	     pulled_of(o, r) && waiting_of(o, r);
	json_object_put(o);
	if (ok)
		return 0;
	errno = EINVAL;
	return fault_set(fault,
	    "%s/" REPO_RECORD
	    " is not as IronCurtain wrote it. The clone is in "
	    "%s/sandbox",
	    dir, dir);
}

int
repo_record_write(const struct repo_record *r, int dirfd)
{
	struct json_object *o = json_object_new_object(),
			   *list = json_object_new_array();
	int rv;

	put_int(o, "version", 1);
	put_str(o, "dir", r->dir);
	put_str(o, "url", r->url);
	put_str(o, "branch", r->branch);
	put_str(o, "base", r->base);
	put_str(o, "start", r->start);
	put_str(o, "format", r->format);
	put_str(o, "session", r->session);
	put_str(o, "unsaved", r->unsaved);
	if (r->looked) {
		put_int(o, "waitingCommits", r->commits);
		put_int(o, "waitingFiles", r->files);
	}
	for (unsigned i = 0; i < r->npulled; i++)
		json_object_array_add(
		    list, json_object_new_string(r->pulled[i]));
	json_object_object_add(o, "pulled", list);
	rv = session_write(dirfd, REPO_RECORD, 0600,
	    span_str(json_object_to_json_string_ext(
		o, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE)));
	json_object_put(o);
	return rv;
}

void
repo_record_pulled(struct repo_record *r, const char *oid)
{
	for (unsigned i = 0; i < r->npulled; i++)
		if (strcmp(r->pulled[i], oid) == 0)
			return;
	if (r->npulled == REPO_MAX_PULLED) {
		memmove(r->pulled, r->pulled + 1,
		    sizeof(r->pulled) - sizeof(r->pulled[0]));
		r->npulled--;
	}
	(void)span_copy(span_str(oid), r->pulled[r->npulled++], REPO_OID);
}
