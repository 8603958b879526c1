/* SPDX-License-Identifier: ISC */
/* Two files of a session, for the page: its log, and its policy. */
#include "icctl/web/priv.h"

#include <sys/stat.h>

#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_put.h"
#include "log/parts.h"

#define AUDIT_LINE 8192U /* bytes of a record that are shown */

/*
 * Read the end of a file, at most `max` bytes of it; *cut: there is more.
 * Returns them with a NUL behind, for the caller to free, or NULL.
 */
static char *
audit_read(const char *path, size_t max, size_t *len, bool *cut)
{
	struct stat st;
	char *p = NULL;
	off_t from = 0;
	ssize_t n = -1;
	int fd;

	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd == -1)
		return NULL;
	*cut = false;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    (p = malloc(max + 1)) != NULL) {
		if (st.st_size > (off_t)max) {
			from = st.st_size - (off_t)max;
			*cut = true;
		}
		n = pread(fd, p, max, from);
	}
	close(fd);
	if (n < 0) {
		free(p);
		return NULL;
	}
	p[n] = '\0';
	*len = (size_t)n;
	return p;
}

static bool
audit_has(const char *line, size_t len, const char *text)
{
	size_t n = strlen(text);

	for (size_t i = 0; i + n <= len; i++)
		if (strncasecmp(line + i, text, n) == 0)
			return true;
	return false;
}

/*
 * Add the record: its visible form, and the time and the event by themselves.
 */
static void
audit_add(json_object *list, char *line, size_t len)
{
	json_object *o = json_object_new_object(), *record;
	char saved = line[len];

	line[len] = '\0';
	record = json_tokener_parse(line);
	if (json_object_is_type(record, json_type_object)) {
		json_object_object_add(
		    o, "ts", state_vis(icctl_text(record, "time")));
		json_object_object_add(
		    o, "event", state_vis(icctl_text(record, "event")));
	}
	json_object_put(record);
	if (len > AUDIT_LINE) {
		line[len] = saved;
		len = AUDIT_LINE;
		saved = line[len];
		line[len] = '\0';
		put_bool(o, "cut", true);
	}
	json_object_object_add(o, "text", state_vis(line));
	line[len] = saved;
	json_object_array_add(list, o);
}

/* Add records with the text, the newest first. */
static json_object *
audit_search(char *p, size_t len, bool cut, const char *text)
{
	json_object *list = json_object_new_array();
	size_t end = len, begin;

	while (end != 0 && json_object_array_length(list) < WEB_AUDIT_MAX) {
		/* A line that has no end yet is being written. */
		for (begin = end; begin != 0 && p[begin - 1] != '\n'; begin--)
			;
		if (end != len && end != begin && (begin != 0 || !cut) &&
		    audit_has(p + begin, end - begin, text))
			audit_add(list, p + begin, end - begin);
		end = begin == 0 ? 0 : begin - 1;
	}
	return list;
}

const char web_elsewhere[] =
    "the session runs on another machine, which has its files: use icctl there";

void
audit_find(struct web *w, const struct msg_WEB_REQUEST *m)
{
	char id[LIVE_NAME], text[513], *p;
	struct live_session *s = NULL;
	json_object *o;
	size_t len;
	bool cut;
	int dir;

	if (span_copy(m->session, id, sizeof(id)) == 0)
		s = live_find(w->live, id);
	if (s == NULL || span_copy(m->text, text, sizeof(text)) == -1) {
		send_refuse(w, m->n, 404, "there is no such session");
		return;
	}
	if (s->far != NULL) {
		send_refuse(w, m->n, 404, web_elsewhere);
		return;
	}
	dir = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	p = dir == -1 ? NULL
		      : auditparts_tail(dir, WEB_AUDIT_BYTES, &len, &cut);
	if (dir != -1)
		close(dir);
	if (p == NULL) {
		send_refuse(w, m->n, 404, "its log cannot be read");
		return;
	}
	o = json_object_new_object();
	json_object_object_add(o, "records", audit_search(p, len, cut, text));
	put_bool(o, "cut", cut);
	free(p);
	send_answer(w, m->n, 200, o);
}

void
audit_policy(struct web *w, const struct msg_WEB_REQUEST *m)
{
	struct live_session *s = NULL;
	json_object *o;
	char id[LIVE_NAME], *p;
	const char *path;
	size_t len;
	bool cut;

	if (span_copy(m->session, id, sizeof(id)) == 0)
		s = live_find(w->live, id);
	path = s == NULL || s->status == NULL ? ""
					      : icctl_text(s->status, "policy");
	/* Another machine's path must not choose a file of this one. */
	if (s != NULL && s->far != NULL) {
		send_refuse(w, m->n, 404, web_elsewhere);
		return;
	}
	if (path[0] != '/') {
		send_refuse(w, m->n, 404, "its policy is not known");
		return;
	}
	p = audit_read(path, WEB_POLICY_MAX, &len, &cut);
	if (p == NULL || cut) {
		free(p);
		send_refuse(w, m->n, 404, "its policy cannot be read");
		return;
	}
	o = json_object_new_object();
	put_str(o, "path", s->policy);
	put_int(o, "rules", icctl_number(s->status, "rules"));
	/* A file of the person's; newlines stay. */
	put_str(o, "text", p);
	free(p);
	send_answer(w, m->n, 200, o);
}
