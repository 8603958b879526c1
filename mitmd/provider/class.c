/* SPDX-License-Identifier: ISC */
/*
 * Classes of text in provider files and in requests. They are deliberately
 * narrow: a text that passes needs no escaping in a request line, a header or a
 * message. Takes untrusted bytes and keeps no state.
 */
#include "provider/class.h"

#include "provider/provider.h"

#define LABEL "abcdefghijklmnopqrstuvwxyz0123456789-"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

static bool
class_of(struct span s, size_t min, size_t max, const char *set)
{
	if (s.len < min || s.len > max)
		return false;
	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] == '\0' || strchr(set, s.p[i]) == NULL)
			return false;
	}
	return true;
}

/* [A-Za-z0-9._:-], the bytes of path segments and values. */
static bool
class_is_word_byte(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '-' && c <= ':' && c != '/') || c == '_';
}

static bool
class_is_word(struct span s, size_t max)
{
	if (s.len == 0 || s.len > max)
		return false;
	for (size_t i = 0; i < s.len; i++) {
		if (!class_is_word_byte(s.p[i]))
			return false;
	}
	return true;
}

/* Printable ASCII from `least` on. */
static bool
class_is_printable(struct span s, size_t min, size_t max, uint8_t least)
{
	if (s.len < min || s.len > max)
		return false;
	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] < least || s.p[i] > 0x7e)
			return false;
	}
	return true;
}

const char *
provider_vis(struct span s, char *dst, size_t cap)
{
	size_t i;

	for (i = 0; i < s.len && i + 1 < cap; i++) {
		dst[i] = '?';
		if (s.p[i] >= 0x20 && s.p[i] < 0x7f)
			dst[i] = (char)s.p[i];
	}
	dst[i] = '\0';
	return dst;
}

const char *
provider_class_says(bool (*class)(struct span))
{
	static const struct {
		bool (*class)(struct span);
		const char *says;
	} all[] = {
	    {provider_is_label,
		": must be 1 to 64 of a-z, 0-9 and -, the first no -"},
	    {provider_is_host,
		": must be a host name in lower case, such as "
		"api.example.com, without scheme, port and path"},
	    {provider_is_env,
		": must be a variable in capitals, such as EXAMPLE_API_KEY"},
	    {provider_is_sentinel,
		": must be 1 to 256 of A-Z, a-z, 0-9 and ._:-"},
	    {provider_is_kind,
		": must be a header that carries a credential, in lower case, "
		"such as authorization or x-api-key"},
	    {provider_is_prefix,
		": must be a scheme and one space, such as \"Bearer \", or "
		"nothing"},
	    {provider_is_allowed,
		": must be a header in lower case, or a family such as "
		"x-app-*; none that carries a credential or a cookie, frames "
		"a message or leads elsewhere"},
	    {provider_is_method,
		": must be GET, HEAD, POST, PUT, PATCH or DELETE"},
	    {provider_is_pattern,
		": must be a path without query, such as /v1/models/*: "
		"segments of A-Z, a-z, 0-9 and ._:-, at most 16; * is one "
		"segment, or its start"},
	    {provider_is_token, ": must be 1 to 128 of A-Z, a-z, 0-9 and ._:-"},
	    {provider_is_sent, ": must be 1 to 256 printable characters of "
			       "ASCII, without blanks around them"},
	    {provider_is_type, ": must be a media type in lower case, such as "
			       "application/json"},
	};

	for (size_t i = 0; i < nitems(all); i++)
		if (all[i].class == class)
			return all[i].says;
	return "";
}

bool
provider_is_label(struct span s)
{
	return class_of(s, 1, 64, LABEL) && s.p[0] != '-';
}

bool
provider_is_host(struct span s)
{
	size_t label = 0, labels = 0;
	bool digits = true;

	if (!class_of(s, 1, 253, LABEL "."))
		return false;
	for (size_t i = 0; i <= s.len; i++) {
		if (i < s.len && s.p[i] != '.') {
			if (label++ == 0)
				digits = true;
			digits = digits && s.p[i] >= '0' && s.p[i] <= '9';
			continue;
		}
		if (label == 0 || label > 63 || s.p[i - 1] == '-' ||
		    s.p[i - label] == '-')
			return false;
		label = 0;
		labels++;
	}
	/* A last label of digits only would make it an address. */
	return labels >= 2 && !digits;
}

bool
provider_is_env(struct span s)
{
	return class_of(s, 1, 64, UPPER "0123456789_") &&
	       (s.p[0] < '0' || s.p[0] > '9');
}

bool
provider_is_sentinel(struct span s)
{
	return class_is_word(s, 256);
}

/* A scheme and one space, or nothing. */
bool
provider_is_prefix(struct span s)
{
	if (s.len == 0)
		return true;
	return s.p[s.len - 1] == ' ' &&
	       class_is_word(span_of(s.p, s.len - 1), 31);
}

bool
provider_is_method(struct span s)
{
	static const char *const methods[] = {
	    "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"};

	for (size_t i = 0; i < nitems(methods); i++) {
		if (span_is(s, methods[i]))
			return true;
	}
	return false;
}

bool
provider_is_segment(struct span s)
{
	return class_is_word(s, PROVIDER_MAX_PATH) && !span_is(s, ".") &&
	       !span_is(s, "..");
}

bool
provider_is_pattern(struct span s)
{
	struct span seg;
	size_t start = 1, segments = 0;

	if (s.len < 2 || s.len > 512 || s.p[0] != '/')
		return false;
	for (size_t i = 1; i <= s.len; i++) {
		if (i < s.len && s.p[i] != '/')
			continue;
		seg = span_of(s.p + start, i - start);
		if (seg.len != 0 && seg.p[0] == '*') {
			seg.p++;
			seg.len--;
			if (seg.len != 0 && !class_is_word(seg, 256))
				return false;
		} else if (!provider_is_segment(seg)) {
			return false;
		}
		start = i + 1;
		if (++segments > PROVIDER_MAX_SEGMENTS)
			return false;
	}
	return true;
}

bool
provider_is_param(struct span s)
{
	return class_is_word(s, 64) && memchr(s.p, ':', s.len) == NULL;
}

bool
provider_is_token(struct span s)
{
	return class_is_word(s, 128);
}

bool
provider_is_number(struct span s)
{
	return class_of(s, 1, 10, "0123456789");
}

bool
provider_is_type(struct span s)
{
	const uint8_t *slash;

	if (!class_of(s, 3, 64, LABEL "/.+"))
		return false;
	slash = memchr(s.p, '/', s.len);
	return slash != NULL && slash != s.p && slash != s.p + s.len - 1 &&
	       memchr(slash + 1, '/', (size_t)(s.p + s.len - slash - 1)) ==
		   NULL;
}

bool
provider_is_sent(struct span s)
{
	return class_is_printable(s, 1, 256, 0x20) && s.p[0] != ' ' &&
	       s.p[s.len - 1] != ' ';
}

bool
provider_is_word(struct span s)
{
	return class_is_word(s, 64);
}

bool
provider_is_scope(struct span s)
{
	struct span word = span_of(s.p, 0);

	if (s.len == 0 || s.len > 256)
		return false;
	for (size_t i = 0; i <= s.len; i++) {
		if (i < s.len && s.p[i] != ' ') {
			word.len++;
			continue;
		}
		if (!provider_is_word(word))
			return false;
		word = span_of(s.p + i + 1, 0);
	}
	return true;
}

bool
provider_is_member(struct span s)
{
	unsigned dots = 0;
	bool empty = true;

	if (!class_is_printable(s, 1, 64, 0x21))
		return false;
	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] == '.') {
			if (empty || ++dots > 3)
				return false;
			empty = true;
		} else if (s.p[i] == '"' || s.p[i] == '\\') {
			return false;
		} else {
			empty = false;
		}
	}
	return !empty;
}

bool
provider_is_place(struct span s)
{
	return class_is_printable(s, 2, 512, 0x20);
}

bool
provider_is_url(struct span s)
{
	return provider_is_place(s) && span_starts(s, SPAN("https://"));
}

bool
provider_is_claim(struct span s)
{
	return class_is_printable(s, 1, 128, 0x21);
}

bool
provider_is_fake(struct span s)
{
	return class_is_word(s, 2048);
}

bool
provider_is_flat(struct span s)
{
	unsigned dots = 0;

	for (size_t i = 0; i < s.len; i++)
		dots += s.p[i] == '.';
	return dots <= 1;
}
