/* SPDX-License-Identifier: ISC */
/*
 * Parses AWS credentials strictly: a duplicate member, an unknown version, or a
 * character that no key contains makes the whole text invalid.
 */
#include "keyd/login/aws.h"

#include "common/http/date.h"
#include "common/json/json.h"
#include "keyd/login/oauth.h"

#define AWS_POOL (256U << 10)

/* An id becomes part of a path-like text in Authorization. */
static bool
aws_is_id(struct span s)
{
	if (s.len == 0 || s.len > AWS_MAX_ID)
		return false;
	for (size_t i = 0; i < s.len; i++) {
		uint8_t c = s.p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			(c >= '0' && c <= '9') || c == '_' || c == '-'))
			return false;
	}
	return true;
}

static enum aws_form
aws_check(const struct aws_key *k, const char **why)
{
	if (!aws_is_id(k->id))
		*why = "holds no access key id";
	else if (!oauth_is_token(k->secret, AWS_MAX_SECRET))
		*why = "holds no secret access key";
	else if (k->token.len != 0 && !oauth_is_token(k->token, AWS_MAX_TOKEN))
		*why = "holds a session token that is none";
	else
		return AWS_KEYS;
	return AWS_BAD;
}

/*
 * Parse RFC 3339 in UTC ("Z" or "+00:00"). Returns 0 if it is not such a time.
 */
static uint64_t
aws_time(struct span s)
{
	bool utc = (s.len != 0 && s.p[s.len - 1] == 'Z') ||
		   (s.len > 6 && span_is(span_of(s.p + s.len - 6, 6), "+00:00"));
	int64_t t;

	return utc && date_rfc3339(s, &t) == 0 ? (uint64_t)t : 0;
}

static bool
aws_inside(struct span outer, struct span s)
{
	return s.p >= outer.p && s.p + s.len <= outer.p + outer.len;
}

/* Read a string that has no escapes; empty if absent or null. */
static bool
aws_string(const struct value *root, struct span text, const char *name,
    struct span *out)
{
	const struct value *v = value_get(root, name);

	*out = span_of(NULL, 0);
	if (v == NULL || v->type == VALUE_NULL)
		return true;
	if (v->type != VALUE_STRING)
		return false;
	if (v->text.len == 0)
		return true;
	*out = v->text;
	return aws_inside(text, v->text);
}

static enum aws_form
aws_process(const struct value *root, struct span text, struct aws_key *k,
    const char **why)
{
	struct span expires;
	int64_t version = 0;

	if (value_int(value_get(root, "Version"), 1, 1, &version) == -1) {
		*why = "is JSON without \"Version\": 1";
		return AWS_BAD;
	}
	if (!aws_string(root, text, "AccessKeyId", &k->id) ||
	    !aws_string(root, text, "SecretAccessKey", &k->secret) ||
	    !aws_string(root, text, "SessionToken", &k->token) ||
	    !aws_string(root, text, "Expiration", &expires)) {
		*why = "holds a member that is no plain text";
		return AWS_BAD;
	}
	if (expires.len != 0 && (k->expires = aws_time(expires)) == 0) {
		*why = "holds an Expiration that is no time in UTC";
		return AWS_BAD;
	}
	return aws_check(k, why);
}

static enum aws_form
aws_json(struct span text, struct aws_key *k, const char **why)
{
	enum aws_form form = AWS_BAD;
	const struct value *root;
	struct value_pool *pool;

	*why = "finds no memory";
	if ((pool = value_pool_new(AWS_POOL)) == NULL)
		return AWS_BAD;
	*why = "begins like JSON and is no object";
	if ((root = json_read(pool, text, NULL)) != NULL &&
	    root->type == VALUE_OBJECT)
		form = aws_process(root, text, k, why);
	value_pool_free(pool);
	return form;
}

static struct span
aws_trim(struct span s)
{
	while (s.len != 0 && (s.p[0] == ' ' || s.p[0] == '\t')) {
		s.p++;
		s.len--;
	}
	while (s.len != 0 && (s.p[s.len - 1] == ' ' || s.p[s.len - 1] == '\t' ||
				 s.p[s.len - 1] == '\r'))
		s.len--;
	return s;
}

/* Read a line of the section. Returns false for a duplicate name. */
static bool
aws_line(struct aws_key *k, struct span line)
{
	struct span name, value, *to = NULL;
	const uint8_t *at;

	if (line.len == 0 || (at = memchr(line.p, '=', line.len)) == NULL)
		return true;
	name = aws_trim(span_of(line.p, (size_t)(at - line.p)));
	value = aws_trim(span_of(at + 1, line.len - (size_t)(at - line.p) - 1));
	if (span_is(name, "aws_access_key_id"))
		to = &k->id;
	else if (span_is(name, "aws_secret_access_key"))
		to = &k->secret;
	else if (span_is(name, "aws_session_token"))
		to = &k->token;
	if (to == NULL)
		return true;
	if (to->p != NULL)
		return false;
	*to = value;
	return true;
}

/* Parse a credentials file as `aws configure` writes it. */
static enum aws_form
aws_ini(struct span text, struct aws_key *k, const char **why)
{
	bool here = false, seen = false;
	struct span line;

	while (span_line(&text, &line)) {
		line = aws_trim(line);
		if (line.len == 0 || line.p[0] == '#' || line.p[0] == ';')
			continue;
		if (line.p[0] == '[') {
			here = span_is(line, "[default]");
			if (here && seen) {
				*why = "has two sections [default]";
				return AWS_BAD;
			}
			seen = seen || here;
		} else if (here && !aws_line(k, line)) {
			*why = "names a key twice in [default]";
			return AWS_BAD;
		}
	}
	if (!seen) {
		*why = "has no section [default]; another profile can be had "
		       "by the command aws configure export-credentials "
		       "--profile NAME";
		return AWS_BAD;
	}
	return aws_check(k, why);
}

enum aws_form
aws_parse(struct span text, struct aws_key *k, const char **why)
{
	struct span s = aws_trim(text);
	bool lines;

	*k = (struct aws_key){0};
	lines = memchr(text.p, '\n', text.len) != NULL;
	while (s.len != 0 && (s.p[0] == '\n' || s.p[0] == '\r')) {
		s.p++;
		s.len--;
		s = aws_trim(s);
	}
	if (s.len != 0 && s.p[0] == '{')
		return aws_json(text, k, why);
	if (lines || (s.len != 0 && s.p[0] == '['))
		return aws_ini(text, k, why);
	return AWS_API_KEY;
}
