/* SPDX-License-Identifier: ISC */
/*
 * Names of Python projects (PEP 503) and of their files: wheels (PEP 427, with
 * or without a build tag) and source archives. The version of a source archive
 * is the part after its last dash; a file whose version contains a dash is
 * therefore taken for a file of another project, which does not list it.
 */
#include "registry/path.h"

#include "common/json/text.h"

static bool
pypi_alnum(uint8_t c)
{
	return text_is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

static bool
pypi_separator(uint8_t c)
{
	return c == '-' || c == '_' || c == '.';
}

int
registry_pypi_name(struct span s, char *dst, size_t cap)
{
	size_t n = 0;
	uint8_t c;

	if (s.len == 0 || !pypi_alnum(s.p[0]) || !pypi_alnum(s.p[s.len - 1]))
		return -1;
	for (size_t i = 0; i < s.len; i++) {
		c = s.p[i];
		if (pypi_separator(c)) {
			if (pypi_separator(s.p[i + 1]))
				continue;
			c = '-';
		} else if (!pypi_alnum(c)) {
			return -1;
		} else if (c >= 'A' && c <= 'Z') {
			c = (uint8_t)(c | 0x20);
		}
		if (n + 1 >= cap)
			return -1;
		dst[n++] = (char)c;
	}
	dst[n] = '\0';
	return 0;
}

/* Letters and digits of a tag or version; not empty, and without a dash. */
static bool
pypi_part_ok(struct span s, bool version)
{
	if (s.len == 0 || s.len > REGISTRY_MAX_VERSION)
		return false;
	for (size_t i = 0; i < s.len; i++) {
		uint8_t c = s.p[i];

		if (!pypi_alnum(c) && c != '_' && c != '.' &&
		    !(version && (c == '+' || c == '!')))
			return false;
	}
	return !version || text_is_digit(s.p[0]);
}

/* NAME-VERSION(-BUILD)?-PYTHON-ABI-PLATFORM */
static int
pypi_wheel(struct span s, char *package, size_t cap, struct span *version)
{
	struct span part[6];
	unsigned n = 0;
	size_t from = 0;

	for (size_t i = 0; i <= s.len; i++) {
		if (i != s.len && s.p[i] != '-')
			continue;
		if (n == 6)
			return -1;
		part[n++] = span_of(s.p + from, i - from);
		from = i + 1;
	}
	if (n < 5 ||
	    (n == 6 && (part[2].len == 0 || !text_is_digit(part[2].p[0]))))
		return -1;
	for (unsigned i = 1; i < n; i++) {
		if (!pypi_part_ok(part[i], i == 1))
			return -1;
	}
	*version = part[1];
	return registry_pypi_name(part[0], package, cap);
}

static int
pypi_archive(struct span s, char *package, size_t cap, struct span *version)
{
	size_t dash = s.len;

	while (dash > 0 && s.p[dash - 1] != '-')
		dash--;
	if (dash == 0)
		return -1;
	*version = span_of(s.p + dash, s.len - dash);
	if (!pypi_part_ok(*version, true))
		return -1;
	return registry_pypi_name(span_of(s.p, dash - 1), package, cap);
}

int
registry_pypi_file(
    struct span file, char *package, size_t cap, struct span *version)
{
	static const struct span ends[] = {
	    {(const uint8_t *)".whl", 4},
	    {(const uint8_t *)".tar.gz", 7},
	    {(const uint8_t *)".tar.bz2", 8},
	    {(const uint8_t *)".tgz", 4},
	    {(const uint8_t *)".zip", 4},
	};
	struct span stem;

	for (unsigned i = 0; i < nitems(ends); i++) {
		if (file.len <= ends[i].len)
			continue;
		stem = span_of(file.p, file.len - ends[i].len);
		if (!span_eq(span_of(stem.p + stem.len, ends[i].len), ends[i]))
			continue;
		return i == 0 ? pypi_wheel(stem, package, cap, version)
			      : pypi_archive(stem, package, cap, version);
	}
	return -1;
}
