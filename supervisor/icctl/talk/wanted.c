/* SPDX-License-Identifier: ISC */
/*
 * Finds the answer in what an agent said, and compares it with the schema that
 * the user gave. Both are read strictly; the answer is printed as it was read.
 */
#include "icctl/talk/wanted.h"

#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/json/json.h"
#include "common/log.h"
#include "icctl/driver/places.h"
#include "icctl/schema/schema.h"
#include "icctl/talk/talk.h"

#define WANTED_SCHEMA 65536U /* bytes of a schema */
#define WANTED_POOL (16U << 20)
#define WANTED_EXCERPT 200U

struct wanted {
	char text[WANTED_SCHEMA + 1]; /* the file */
	char *ask;
	struct value_pool *schemas, *values;
	const struct value *schema, *value;
	char why[SCHEMA_PATH + SCHEMA_TEXT + 64];
	char path[SCHEMA_PATH], excerpt[4 * WANTED_EXCERPT + 8];
};

/* Read the file. Returns its length, or 0 with the reason in `why`. */
static size_t
wanted_file(const char *home, const char *path, char text[WANTED_SCHEMA + 1],
    char why[WANTED_WHY])
{
	char reason[PLACES_WHY] = "";
	int fd = places_file(home, NULL, path, reason);
	size_t len = 0;
	ssize_t n = 0;

	if (fd == -1) {
		snprintf(why, WANTED_WHY, "--schema %s", reason);
		return 0;
	}
	while (len <= WANTED_SCHEMA &&
	       (n = read(fd, text + len, WANTED_SCHEMA + 1 - len)) > 0)
		len += (size_t)n;
	if (n == -1)
		snprintf(
		    why, WANTED_WHY, "--schema %s: %s", path, strerror(errno));
	else if (len > WANTED_SCHEMA)
		snprintf(
		    why, WANTED_WHY, "--schema %s: has more than 64 KiB", path);
	else if (len == 0)
		snprintf(why, WANTED_WHY, "--schema %s: is empty", path);
	close(fd);
	return n == -1 || len > WANTED_SCHEMA ? 0 : len;
}

static unsigned
line_of(const char *text, size_t at)
{
	unsigned n = 1;

	for (size_t i = 0; i < at; i++)
		n += text[i] == '\n';
	return n;
}

/* Returns an empty one, or NULL with the reason in `why`. */
static struct wanted *
wanted_new(char why[WANTED_WHY])
{
	struct wanted *w = calloc(1, sizeof(*w));

	if (w != NULL && (w->schemas = value_pool_new(WANTED_POOL)) != NULL &&
	    (w->values = value_pool_new(WANTED_POOL)) != NULL)
		return w;
	snprintf(why, WANTED_WHY, "the schema: %s", strerror(errno));
	wanted_free(w);
	return NULL;
}

/*
 * Check the schema in w->text. Returns `w`, or NULL with the reason in `why`,
 * and `w` is freed.
 */
static struct wanted *
wanted_check(
    struct wanted *w, size_t len, const char *name, char why[WANTED_WHY])
{
	struct schema_fail fail;
	struct json_fail bad;

	w->schema = json_read(w->schemas, span_of(w->text, len), &bad);
	if (w->schema == NULL) {
		snprintf(why, WANTED_WHY, "%s: line %u: %s. Nothing was sent",
		    name, line_of(w->text, bad.at), json_strerror(bad.error));
		goto out;
	}
	if (schema_check(w->schema, &fail) == -1) {
		snprintf(why, WANTED_WHY, "%s: at %s: %s. Nothing was sent",
		    name, fail.path[0] != '\0' ? fail.path : "the top",
		    fail.text);
		goto out;
	}
	if (asprintf(&w->ask,
		"\n\nEnd with an answer that is JSON, and nothing but JSON: no "
		"text around it. It must be valid against this JSON Schema:\n"
		"%.*s\n",
		(int)len, w->text) == -1) {
		w->ask = NULL;
		snprintf(why, WANTED_WHY, "%s: %s", name, strerror(errno));
		goto out;
	}
	return w;
out:
	wanted_free(w);
	return NULL;
}

struct wanted *
wanted_of(struct span text, const char *name, char why[WANTED_WHY])
{
	struct wanted *w = wanted_new(why);

	if (w == NULL)
		return NULL;
	if (text.len == 0 || text.len > WANTED_SCHEMA) {
		snprintf(why, WANTED_WHY, "%s: %s", name,
		    text.len == 0 ? "is empty" : "has more than 64 KiB");
		wanted_free(w);
		return NULL;
	}
	memcpy(w->text, text.p, text.len);
	return wanted_check(w, text.len, name, why);
}

struct wanted *
wanted_read(const struct icctl *ctl, const char *path, char why[WANTED_WHY])
{
	struct wanted *w = wanted_new(why);
	char name[512];
	size_t len;

	if (w == NULL)
		return NULL;
	snprintf(name, sizeof(name), "--schema %.480s", path);
	if ((len = wanted_file(ctl->home, path, w->text, why)) != 0)
		return wanted_check(w, len, name, why);
	wanted_free(w);
	return NULL;
}

void
wanted_free(struct wanted *w)
{
	if (w == NULL)
		return;
	value_pool_free(w->schemas);
	value_pool_free(w->values);
	free(w->ask);
	free(w);
}

const char *
wanted_ask(const struct wanted *w)
{
	return w->ask;
}

const char *
wanted_why(const struct wanted *w)
{
	return w->why;
}

/* Returns the last line that begins with ``` before `end`, or NULL. */
static const char *
fence_before(const char *text, const char *end)
{
	for (const char *p = end; p > text; p--)
		if ((p - 1 == text || p[-2] == '\n') && end - (p - 1) >= 3 &&
		    strncmp(p - 1, "```", 3) == 0)
			return p - 1;
	return NULL;
}

/* The answer is all of the text, or its last block between lines of ```. */
static struct span
wanted_part(const char *text, size_t len)
{
	const char *close = fence_before(text, text + len), *open, *nl;

	open = close == NULL ? NULL : fence_before(text, close);
	nl = open == NULL ? NULL : memchr(open, '\n', (size_t)(close - open));
	return nl == NULL ? span_of(text, len)
			  : span_of(nl + 1, (size_t)(close - nl - 1));
}

static void
wanted_excerpt(struct wanted *w, const struct value *v, struct span text)
{
	struct buf b;

	buf_init(&b, WANTED_POOL);
	if (v != NULL && json_write(&b, v) == 0)
		text = buf_span(&b);
	if (text.len > WANTED_EXCERPT)
		text.len = WANTED_EXCERPT;
	log_vis(text, w->excerpt, sizeof(w->excerpt));
	buf_free(&b);
}

bool
wanted_take(struct wanted *w, const struct buf *said)
{
	struct span all = buf_span(said), part;
	struct schema_fail fail;
	struct json_fail bad;

	part = wanted_part((const char *)all.p, all.len);
	value_pool_reset(w->values);
	w->path[0] = '\0';
	w->value = NULL;
	if (said->failed) {
		snprintf(w->why, sizeof(w->why), "it has more than 4 MiB");
		wanted_excerpt(w, NULL, part);
		return false;
	}
	if ((w->value = json_read(w->values, part, &bad)) == NULL) {
		snprintf(w->why, sizeof(w->why),
		    "it is not JSON, at byte %zu: %s", bad.at,
		    json_strerror(bad.error));
		part.p += bad.at < part.len ? bad.at : 0;
		part.len -= bad.at < part.len ? bad.at : 0;
		wanted_excerpt(w, NULL, part);
		return false;
	}
	if (schema_match(w->schema, w->value, &fail) == 0)
		return true;
	(void)strlcpy(w->path, fail.path, sizeof(w->path));
	snprintf(w->why, sizeof(w->why), "at %s: %s",
	    fail.path[0] != '\0' ? fail.path : "the top", fail.text);
	wanted_excerpt(w, fail.at, part);
	return false;
}

const char *
wanted_again(const struct wanted *w)
{
	static char text[sizeof(w->why) + sizeof(w->excerpt) + 256];

	snprintf(text, sizeof(text),
	    "Your answer does not fit the JSON Schema: %s. There it says: %s\n"
	    "Answer again, with the whole answer as JSON and nothing else.",
	    w->why, w->excerpt);
	return text;
}

int
wanted_put(const struct icctl *ctl, const struct wanted *w)
{
	struct buf b;

	buf_init(&b, WANTED_POOL);
	if (json_write(&b, w->value) == -1) {
		buf_free(&b);
		warnx("the answer is too large");
		return ICCTL_FAILED;
	}
	if (ctl->json)
		fputs("{\"ok\":true,\"answer\":", stdout);
	icctl_put_ascii(buf_span(&b));
	puts(ctl->json ? "}" : "");
	buf_free(&b);
	return ICCTL_OK;
}

int
wanted_failed(const struct icctl *ctl, const struct wanted *w)
{
	json_object *o;

	if (!ctl->json) {
		warnx("the answer does not fit the schema: %s. There it says: "
		      "%s",
		    w->why, w->excerpt);
		return ICCTL_FAILED;
	}
	o = json_object_new_object();
	json_object_object_add(o, "ok", json_object_new_boolean(false));
	json_object_object_add(
	    o, "code", json_object_new_string("SCHEMA_MISMATCH"));
	json_object_object_add(o, "error", json_object_new_string(w->why));
	json_object_object_add(o, "path", json_object_new_string(w->path));
	json_object_object_add(
	    o, "excerpt", json_object_new_string(w->excerpt));
	icctl_put_json(o);
	json_object_put(o);
	return ICCTL_FAILED;
}
