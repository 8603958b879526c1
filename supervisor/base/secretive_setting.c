/* SPDX-License-Identifier: ISC */
/*
 * Finds passwords in configuration files: "password = x", "DB_PASSWORD=x",
 * {"apiKey": "x"}, <password>x</password>, password="x" in XML, "requirepass
 * x", "machine h login u password x", and https://user:x@host/. The syntax of a
 * file is not known, so that a line counts as a comment if it begins as one in
 * any usual syntax.
 */
#include "base/secretive.h"

#include <ctype.h>

#define SETTING_NAME 64U
#define SETTING_VALUE 256U

/* The ends of names, without marks: "db_password", "proxyPassword". */
static const char *const setting_ends[] = {"password", "passwd", "passphrase",
    "secret", "token", "apikey", "accesskey", "secretkey", "privatekey",
    "authkey", "credential", "credentials", "bindpw", "requirepass",
    "masterauth", "psk", "presharedkey", "secretaccesskey", "authpass",
    "userpass", "dbpass", "smtppass", "storepass", "keypass"};

/* These are whole names: "compass" and "bypass" are none. */
static const char *const setting_names[] = {"pass", "pwd", "pw", "pin", "auth"};

/* Their value follows without a mark between. */
static const char *const setting_words[] = {
    "password", "requirepass", "masterauth", "bindpw", "rootpw", "passphrase"};

/* Values that are none. */
static const char *const setting_none[] = {"none", "null", "nil", "true",
    "false", "files", "file", "required", "requisite", "optional", "sufficient",
    "include", "substack", "prompt", "ask", "auto", "default", "disabled",
    "enabled", "password", "passwd", "secret", "token", "changeme", "username",
    "example", "undefined", "string", "basic", "digest", "plain", "crypt",
    "systemd", "compat"};

static bool
setting_name_char(uint8_t c)
{
	return isalnum(c) || c == '_' || c == '-' || c == '.';
}

static bool
setting_among(const char *word, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(word, list[i]) == 0)
			return true;
	return false;
}

/* Write the letters and digits of a name in lower case. */
static void
setting_plain(struct span name, char dst[SETTING_NAME])
{
	size_t n = 0;

	/* Its end counts. */
	if (name.len >= SETTING_NAME) {
		name.p += name.len - SETTING_NAME + 1;
		name.len = SETTING_NAME - 1;
	}
	for (size_t i = 0; i < name.len; i++)
		if (isalnum(name.p[i]))
			dst[n++] = (char)tolower(name.p[i]);
	dst[n] = '\0';
}

/* Returns the end that the name has, or NULL. */
static const char *
setting_named(struct span name)
{
	char plain[SETTING_NAME];
	size_t n, len;

	setting_plain(name, plain);
	n = strlen(plain);
	for (size_t i = 0; i < nitems(setting_ends); i++) {
		len = strlen(setting_ends[i]);
		if (n >= len && strcmp(plain + n - len, setting_ends[i]) == 0)
			return setting_ends[i];
	}
	for (size_t i = 0; i < nitems(setting_names); i++)
		if (strcmp(plain, setting_names[i]) == 0)
			return setting_names[i];
	return NULL;
}

/* Returns true if this can be a password: four characters, and no reference. */
static bool
setting_value(struct span v)
{
	char plain[SETTING_NAME];
	bool other = false;

	while (
	    v.len != 0 && (v.p[v.len - 1] == '"' || v.p[v.len - 1] == '\'' ||
			      v.p[v.len - 1] == ',' || v.p[v.len - 1] == ';'))
		v.len--;
	if (v.len < 4 || strchr("$%<{/([@!~", v.p[0]) != NULL)
		return false;
	for (size_t i = 1; i < v.len && !other; i++)
		other = v.p[i] != v.p[0];
	if (!other)
		return false;
	setting_plain(v, plain);
	return !setting_among(plain, setting_none, nitems(setting_none));
}

/* Skip blanks, quotes and what closes a name: `"password" : "x"`. */
static const uint8_t *
setting_skip(const uint8_t *p, const uint8_t *end)
{
	while (p < end && (*p == ' ' || *p == '\t' || *p == '"' || *p == '\'' ||
			      *p == ']'))
		p++;
	return p;
}

/* Returns the value at `p`: a word, or all up to the quote before it. */
static struct span
setting_take(const uint8_t *p, const uint8_t *end)
{
	const uint8_t *from;
	char quote = '\0';

	while (p < end && (*p == ' ' || *p == '\t' || *p == '>'))
		p++;
	if (p < end && (*p == '"' || *p == '\''))
		quote = (char)*p++;
	for (from = p; p < end && (quote != '\0' ? *p != (uint8_t)quote
						 : !isspace(*p) && *p != '<');)
		p++;
	return span_of(from, (size_t)(p - from));
}

/* Look at "name = value", "name: value" and <name>value</name> in a line. */
static const char *
setting_assigned(struct span line)
{
	const uint8_t *p = line.p, *end = line.p + line.len, *at;
	const char *found;
	struct span name;

	while (p < end) {
		if (!setting_name_char(*p)) {
			p++;
			continue;
		}
		for (at = p; p < end && setting_name_char(*p);)
			p++;
		name = span_of(at, (size_t)(p - at));
		if ((found = setting_named(name)) == NULL)
			continue;
		at = setting_skip(p, end);
		if (at < end && (*at == '=' || *at == ':' || *at == '>')) {
			at++;
			while (at < end && (*at == '=' || *at == '>'))
				at++;
			if (setting_value(setting_take(at, end)))
				return found;
		}
	}
	return NULL;
}

/* Look at "requirepass x", and at the pairs of .netrc. */
static const char *
setting_spaced(struct span line)
{
	const uint8_t *p = line.p, *end = line.p + line.len, *at;
	const bool netrc = span_starts(line, SPAN("machine ")) ||
			   span_starts(line, SPAN("default ")) ||
			   span_starts(line, SPAN("password "));
	char plain[SETTING_NAME];

	for (unsigned nth = 0; p < end && (nth == 0 || netrc); nth++) {
		while (p < end && isspace(*p))
			p++;
		for (at = p; p < end && !isspace(*p);)
			p++;
		setting_plain(span_of(at, (size_t)(p - at)), plain);
		if (p < end &&
		    setting_among(
			plain, setting_words, nitems(setting_words)) &&
		    setting_value(setting_take(p, end)))
			return "password";
	}
	return NULL;
}

/* Find "://user:password@". */
static const char *
setting_url(struct span s)
{
	const uint8_t *p = s.p, *end = s.p + s.len, *colon;

	while (s.len != 0 &&
	       (p = memmem(p, (size_t)(end - p), "://", 3)) != NULL) {
		p += 3;
		colon = NULL;
		for (const uint8_t *at = p; at < end && !isspace(*at) &&
					    strchr("/\"'<>?#`", *at) == NULL;
		     at++) {
			if (*at == ':' && colon == NULL)
				colon = at + 1;
			if (*at != '@')
				continue;
			if (colon != NULL &&
			    setting_value(span_of(colon, (size_t)(at - colon))))
				return "password in an address";
			/* A token may stand in the place of the user's name. */
			if (colon == NULL && at - p >= 20)
				return "token in an address";
			break;
		}
	}
	return NULL;
}

/* A line of .npmrc begins with two slashes, too: "//host/:_authToken=x". */
static bool
setting_comment(struct span s)
{
	return s.len == 0 || strchr("#;!%*", s.p[0]) != NULL ||
	       span_starts(s, SPAN("// ")) || span_starts(s, SPAN("//\t")) ||
	       span_starts(s, SPAN("///"));
}

/*
 * Take the next piece of a line that is outside of comments of XML, which can
 * go on over lines. Returns false at the end of the line.
 */
static bool
setting_piece(struct span *line, bool *comment, struct span *piece)
{
	const uint8_t *at;

	if (*comment) {
		if ((at = memmem(line->p, line->len, "-->", 3)) == NULL)
			return false;
		*line = span_of(at + 3, (size_t)(line->p + line->len - at) - 3);
		*comment = false;
	}
	while (line->len != 0 && isspace(line->p[0]))
		*line = span_of(line->p + 1, line->len - 1);
	if (line->len == 0)
		return false;
	*piece = *line;
	if ((at = memmem(line->p, line->len, "<!--", 4)) != NULL) {
		piece->len = (size_t)(at - line->p);
		*comment = true;
		*line = span_of(at + 4, line->len - piece->len - 4);
	} else {
		line->len = 0;
	}
	return true;
}

const char *
secretive_setting(struct span s)
{
	const char *found = setting_url(s);
	struct span line, piece;
	bool comment = false;

	while (found == NULL && span_line(&s, &line))
		while (
		    found == NULL && setting_piece(&line, &comment, &piece)) {
			if (setting_comment(piece))
				continue;
			if ((found = setting_assigned(piece)) == NULL)
				found = setting_spaced(piece);
		}
	return found;
}
