/* SPDX-License-Identifier: ISC */
/*
 * Keeps what happens in conversations, for the page: the latest events of each
 * session, with the end of what was written before the page was there.
 */
#include "icctl/web/priv.h"

#include <sys/stat.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_put.h"

#define TALK_BEFORE 65536U /* bytes of events.jsonl */

/* Returns the session's events; they are new if there were none. */
static struct web_talk *
talk_of(struct web *w, const char *id, bool *is_new)
{
	struct web_talk **place = NULL;

	*is_new = false;
	for (size_t i = 0; i < LIVE_MAX; i++) {
		if (w->talks[i] == NULL)
			place = place == NULL ? &w->talks[i] : place;
		else if (strcmp(w->talks[i]->id, id) == 0)
			return w->talks[i];
	}
	if (place == NULL || (*place = calloc(1, sizeof(**place))) == NULL)
		return NULL;
	(void)strlcpy((*place)->id, id, sizeof((*place)->id));
	*is_new = true;
	return *place;
}

/* Append text that goes on. Returns false if it begins an item of its own. */
static bool
talk_join(struct web_talk *t, const char *event, const char *text)
{
	size_t had, more = strlen(text);
	char *joined, **last;

	if (t->n == 0 || strcmp(event, "agent_text") != 0)
		return false;
	last = &t->items[(t->n - 1) % WEB_TALK].text;
	if (strcmp(t->items[(t->n - 1) % WEB_TALK].event, event) != 0)
		return false;
	had = strlen(*last);
	if (had + more > WEB_TALK_TEXT ||
	    (joined = realloc(*last, had + more + 1)) == NULL)
		return false;
	memcpy(joined + had, text, more + 1);
	*last = joined;
	return true;
}

static void
talk_add(struct web_talk *t, const char *event, const char *text)
{
	size_t at = t->n % WEB_TALK;

	if (talk_join(t, event, text))
		return;
	free(t->items[at].text);
	t->items[at].text = strndup(text, WEB_TALK_TEXT);
	if (t->items[at].text == NULL)
		return;
	(void)strlcpy(t->items[at].event, event, sizeof(t->items[at].event));
	t->items[at].n = ++t->n;
}

/* Compose the line of an event of which no member is its text. */
static void
talk_line(struct web_talk *t, const char *event, json_object *o)
{
	char line[WEB_TALK_TEXT];

	if (strcmp(event, "tool_call") == 0) {
		snprintf(line, sizeof(line), "%.64s%s%.200s: %.64s %.2000s",
		    icctl_text(o, "server"),
		    icctl_text(o, "server")[0] != '\0' ? "__" : "",
		    icctl_text(o, "tool"), icctl_text(o, "decision"),
		    icctl_text(o, "preview"));
	} else if (strcmp(event, "tool_result") == 0) {
		snprintf(line, sizeof(line), "%.64s after %lld ms",
		    icctl_text(o, "status"), (long long)icctl_number(o, "ms"));
	} else if (strcmp(event, "turn_end") == 0) {
		snprintf(line, sizeof(line), "the turn has %.64s",
		    icctl_text(o, "status"));
	} else {
		return;
	}
	talk_add(t, event, line);
}

static void
talk_take(struct web_talk *t, json_object *o)
{
	static const char *const texts[][2] = {{"turn_start", "message"},
	    {"agent_text", "text"}, {"thinking", "text"}, {"error", "text"},
	    {"result", "why"}};
	const char *event = icctl_text(o, "event"), *text;

	for (size_t i = 0; i < nitems(texts); i++) {
		if (strcmp(event, texts[i][0]) != 0)
			continue;
		text = icctl_text(o, texts[i][1]);
		if (text[0] != '\0')
			talk_add(t, event, text);
		return;
	}
	talk_line(t, event, o);
}

/* Take the complete lines at the end of events.jsonl. */
static void
talk_before(struct web_talk *t, const struct live_session *s)
{
	static char bytes[TALK_BEFORE + 1];
	char path[4200], *line = bytes, *end;
	struct stat st;
	json_object *o;
	off_t from = 0;
	ssize_t n;
	int fd;

	if (s->far != NULL)
		return;
	snprintf(path, sizeof(path), "%s/events.jsonl", s->dir);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd == -1)
		return;
	if (fstat(fd, &st) == 0 && st.st_size > (off_t)TALK_BEFORE)
		from = st.st_size - (off_t)TALK_BEFORE;
	n = pread(fd, bytes, TALK_BEFORE, from);
	close(fd);
	bytes[n < 0 ? 0 : n] = '\0';
	if (from != 0 && (line = strchr(bytes, '\n')) == NULL)
		return;
	for (; (end = strchr(line, '\n')) != NULL; line = end + 1) {
		*end = '\0';
		if ((o = json_tokener_parse(line)) != NULL &&
		    json_object_is_type(o, json_type_object))
			talk_take(t, o);
		json_object_put(o);
	}
}

void
web_talk_event(struct web *w, struct live_session *s, json_object *o)
{
	struct web_talk *t;
	bool is_new;

	if ((t = talk_of(w, s->id, &is_new)) == NULL)
		return;
	if (is_new)
		talk_before(t, s);
	else
		talk_take(t, o);
}

json_object *
talk_items(struct web *w, const struct live_session *s)
{
	json_object *list = json_object_new_array(), *o;
	struct web_talk *t;
	uint64_t from;
	bool is_new;

	if ((t = talk_of(w, s->id, &is_new)) == NULL)
		return list;
	if (is_new)
		talk_before(t, s);
	from = t->n > WEB_TALK ? t->n - WEB_TALK : 0;
	for (uint64_t i = from; i < t->n; i++) {
		o = json_object_new_object();
		put_str(o, "event", t->items[i % WEB_TALK].event);
		put_int(o, "n", (int64_t)t->items[i % WEB_TALK].n);
		put_str(o, "text", t->items[i % WEB_TALK].text);
		json_object_array_add(list, o);
	}
	return list;
}

void
talk_free(struct web *w)
{
	for (size_t i = 0; i < LIVE_MAX; i++) {
		if (w->talks[i] == NULL)
			continue;
		for (size_t k = 0; k < WEB_TALK; k++)
			free(w->talks[i]->items[k].text);
		free(w->talks[i]);
	}
}
