/* SPDX-License-Identifier: ISC */
/*
 * Reads and writes pins.json. A damaged file is an error: if it counted as
 * empty, every tool would be trusted on first use again.
 */
#include "policy/pins.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/json_put.h"
#include "base/jsonfile.h"
#include "base/session.h"
#include "common/sha256.h"
#include "common/time_text.h"

static int
pins_check_tool(const struct jsonfile *j, struct json_object *pin,
    const char *server, const char *tool)
{
	static const char *const pin_keys[] = {
	    "by", "definition", "definitionDigest", "digest", "pinned", NULL};
	const char *s = NULL, *more = NULL, *defined = NULL;
	char where[256];
	uint8_t digest[32];

	snprintf(where, sizeof(where), "servers.%.80s.%.80s", server, tool);
	if (strlen(tool) > PROTO_MAX_TOOL_NAME || tool[0] == '\0')
		return jsonfile_bad(j, where, NULL, "is not a valid name for a "
						    "tool");
	if (!json_object_is_type(pin, json_type_object))
		return jsonfile_bad(j, where, NULL, "must be an object, is %s",
		    jsonfile_kind(pin));
	if (jsonfile_known(j, pin, where, pin_keys) == -1 ||
	    jsonfile_str(j, pin, where, "digest", &s) == -1 ||
	    jsonfile_str(j, pin, where, "definition", &more) == -1 ||
	    jsonfile_str(j, pin, where, "definitionDigest", &defined) == -1 ||
	    jsonfile_str(j, pin, where, "pinned", &more) == -1 ||
	    jsonfile_str(j, pin, where, "by", &more) == -1)
		return -1;
	if (s == NULL || sha256_unhex(span_str(s), digest) == -1 ||
	    (defined != NULL && sha256_unhex(span_str(defined), digest) == -1))
		return jsonfile_bad(
		    j, where, "digest", "must be 64 hex digits");
	return 0;
}

/*
 * Check the texts of servers, and make the object if there is none. Entries are
 * compared, and shown by icctl, which parses them itself.
 */
static int
pins_check_texts(
    const struct jsonfile *j, struct json_object *root, const char *member)
{
	struct json_object *texts = NULL;
	const char *text = NULL;

	if (jsonfile_object(j, root, "", member, &texts) == -1)
		return -1;
	if (texts == NULL) {
		json_object_object_add(root, member, json_object_new_object());
		return 0;
	}
	json_object_object_foreach(texts, server, val)
	{
		(void)val;
		if (jsonfile_str(j, texts, member, server, &text) == -1)
			return -1;
	}
	return 0;
}

static int
pins_check(const struct jsonfile *j, struct json_object *root)
{
	static const char *const root_keys[] = {
	    "code", "entries", "servers", "version", NULL};
	struct json_object *servers = NULL;
	int64_t version = 0;
	size_t n = 0;

	if (jsonfile_known(j, root, "", root_keys) == -1 ||
	    jsonfile_int(j, root, "", "version", 1, INT32_MAX, &version) ==
		-1 ||
	    jsonfile_object(j, root, "", "servers", &servers) == -1 ||
	    pins_check_texts(j, root, "entries") == -1 ||
	    pins_check_texts(j, root, "code") == -1)
		return -1;
	if (version > PINS_VERSION)
		return jsonfile_bad(j, "", "version",
		    "is %lld: a newer IronCurtain wrote this file. Use that "
		    "version, or another IRONCURTAIN_HOME",
		    (long long)version);
	if (version < 1 || servers == NULL)
		return jsonfile_bad(
		    j, "", NULL, "\"version\" and \"servers\" are missing");
	json_object_object_foreach(servers, server, tools)
	{
		if (!json_object_is_type(tools, json_type_object))
			return jsonfile_bad(j, "servers", server,
			    "must be an object, is %s", jsonfile_kind(tools));
		json_object_object_foreach(tools, tool, pin)
		{
			if (pins_check_tool(j, pin, server, tool) == -1)
				return -1;
			if (++n > PINS_MAX_TOOLS)
				return jsonfile_bad(j, "servers", NULL,
				    "more than %u tools", PINS_MAX_TOOLS);
		}
	}
	return 0;
}

static struct json_object *
pins_empty(void)
{
	struct json_object *root = json_object_new_object();

	json_object_object_add(root, "servers", json_object_new_object());
	json_object_object_add(root, "entries", json_object_new_object());
	json_object_object_add(root, "code", json_object_new_object());
	return root;
}

int
pins_read(const char *path, struct json_object **out, struct fault *fault)
{
	const struct jsonfile j = {path, fault};
	struct json_object *root = NULL;
	struct fault why;
	int rv = -1;

	root = jsonfile_load(path, fault);
	if (root == NULL && errno != EBADMSG) {
		if (errno != ENOENT)
			return -1;
		*out = pins_empty();
		return 0;
	}
	if (root != NULL && pins_check(&j, root) == 0) {
		*out = json_object_get(root);
		rv = 0;
	} else {
		why = *fault;
		fault_set(fault,
		    "%s. It records how the tools of your MCP servers were "
		    "defined when they were first used. Restore it from a "
		    "copy. Without it (rm %s) every tool is accepted as it is "
		    "now",
		    why.text, path);
	}
	json_object_put(root);
	return rv;
}

static void
pins_apply_text(struct json_object *texts, const struct pins_change *c)
{
	struct json_object *old;

	if (c->text != NULL && (c->trusted || !json_object_object_get_ex(
						  texts, c->server, &old)))
		put_str(texts, c->server, c->text);
}

static void
pins_apply(
    struct json_object *root, const struct pins_change *c, const char *now)
{
	struct json_object *tools, *pin, *servers, *texts;

	json_object_object_get_ex(root, "servers", &servers);
	if (c->tool[0] == '\0') {
		json_object_object_get_ex(
		    root, c->code ? "code" : "entries", &texts);
		pins_apply_text(texts, c);
		return;
	}
	if (!json_object_object_get_ex(servers, c->server, &tools)) {
		tools = json_object_new_object();
		json_object_object_add(servers, c->server, tools);
	}
	/* Another session was first: its pin counts. */
	if (!c->trusted && json_object_object_get_ex(tools, c->tool, &pin))
		return;
	pin = json_object_new_object();
	put_str(pin, "by", c->trusted ? "trust" : "first use");
	if (c->text != NULL)
		put_str(pin, "definition", c->text);
	if (c->defined[0] != '\0')
		put_str(pin, "definitionDigest", c->defined);
	put_str(pin, "digest", c->digest);
	put_str(pin, "pinned", now);
	json_object_object_add(tools, c->tool, pin);
}

static const char *
pins_print(struct json_object *root)
{
	return json_object_to_json_string_ext(
	    root, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);
}

/*
 * Keep the file below the size that can be read again, if necessary by leaving
 * out definitions. Returns NULL if that does not help.
 */
static const char *
pins_compose(struct json_object *root)
{
	const char *text = pins_print(root);
	struct json_object *servers;

	json_object_object_get_ex(root, "servers", &servers);
	if (text != NULL && strlen(text) <= PINS_MAX_FILE)
		return text;
	json_object_object_foreach(servers, server, tools)
	{
		(void)server;
		json_object_object_foreach(tools, tool, pin)
		{
			(void)tool;
			json_object_object_del(pin, "definition");
		}
	}
	text = pins_print(root);
	return text != NULL && strlen(text) <= PINS_MAX_FILE ? text : NULL;
}

static int
pins_replace(const char *path, struct json_object *root, char why[256])
{
	const char *text, *slash = strrchr(path, '/');
	char dir[4096];
	int fd = -1, rv = -1;

	snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path), path);
	put_int(root, "version", PINS_VERSION);
	if ((text = pins_compose(root)) == NULL) {
		strlcpy(why,
		    "it would be larger than 7 MiB: remove servers "
		    "from it that you no longer use",
		    256);
	} else if ((fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC)) == -1 ||
		   session_write(fd, slash + 1, 0600, span_str(text)) == -1) {
		strlcpy(why, strerror(errno), 256);
	} else {
		rv = 0;
	}
	if (fd != -1)
		close(fd);
	return rv;
}

int
pins_write(const char *path, const struct pins_change *list, size_t n,
    struct json_object **root, char why[256])
{
	struct json_object *now = NULL;
	struct fault fault;
	char lock[4200], when[TIME_TEXT];
	int fd, rv = -1;

	snprintf(lock, sizeof(lock), "%s.lock", path);
	fd = open(lock, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd == -1) {
		strlcpy(why, strerror(errno), 256);
		return -1;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) == -1) {
		close(fd);
		return 1;
	}
	if (pins_read(path, &now, &fault) == -1) {
		strlcpy(why, fault.text, 256);
		goto out;
	}
	(void)time_text(time(NULL), when);
	for (size_t i = 0; i < n; i++)
		pins_apply(now, &list[i], when);
	if (pins_replace(path, now, why) == -1)
		goto out;
	json_object_put(*root);
	*root = now;
	now = NULL;
	rv = 0;
out:
	json_object_put(now);
	close(fd);
	return rv;
}
