/* SPDX-License-Identifier: ISC */
/*
 * Reads host names strictly.  An accepted name has only one spelling (RFC 1123,
 * lower case), so that policy, log, certificate and resolver all mean the same
 * name.
 */
#include "common/http/hostname.h"

/*
 * Names that lead to the machine itself, to its network or nowhere (RFC 6761,
 * 6762, 7686, 8375, 9476).
 */
static const char *const hostname_special[] = {"localhost", "local", "internal",
    "localdomain", "lan", "home", "corp", "home.arpa", "arpa", "onion",
    "invalid", "alt"};

static bool
hostname_letter(uint8_t c)
{
	return c >= 'a' && c <= 'z';
}

static bool
hostname_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static const char *
hostname_label(const uint8_t *p, size_t n)
{
	if (n == 0)
		return "has an empty label (two dots, or one at an end)";
	if (n > 63)
		return "has a label of more than 63 characters";
	if (p[0] == '-' || p[n - 1] == '-')
		return "has a label that begins or ends with a hyphen";
	if (n > 3 && p[2] == '-' && p[3] == '-' && (p[0] != 'x' || p[1] != 'n'))
		return "has a label of a reserved form";
	return NULL;
}

/*
 * Explain a bad character by the likely mistake: people paste URLs, patterns
 * and addresses.
 */
static const char *
hostname_byte(uint8_t c)
{
	if (c >= 0x80)
		return "is not ASCII: write it in its xn-- form";
	if (c == '/' || c == '?' || c == '#' || c == '@')
		return "is a URL or a part of one: give the host name alone";
	if (c == '*')
		return "is a pattern: name each host";
	if (c == ':' || c == '[' || c == ']')
		return "is a URL or an address, or has a port: give the host "
		       "name alone";
	return "holds a character that no host name has";
}

int
hostname_read(struct span in, char *dst, const char **why)
{
	uint8_t out[HOSTNAME_MAX + 1], c;
	size_t start = 0, labels = 0;

	*why = "is empty";
	if (in.len == 0)
		return -1;
	*why = "is longer than 253 characters";
	if (in.len > HOSTNAME_MAX)
		return -1;
	for (size_t i = 0; i <= in.len; i++) {
		c = i < in.len ? in.p[i] : '.';
		if (c >= 'A' && c <= 'Z')
			c = (uint8_t)(c + ('a' - 'A'));
		out[i] = c;
		if (c == '.') {
			if ((*why = hostname_label(out + start, i - start)) !=
			    NULL)
				return -1;
			labels++;
			if (i < in.len)
				start = i + 1;
		} else if (!hostname_letter(c) && !hostname_digit(c) &&
			   c != '-') {
			*why = hostname_byte(c);
			return -1;
		}
	}
	/*
	 * A name whose last label begins with a digit is read as an address
	 * elsewhere.
	 */
	*why = "is an address: give a host name";
	if (hostname_digit(out[start]))
		return -1;
	*why = "has no dot";
	if (labels < 2)
		return -1;
	memcpy(dst, out, in.len);
	dst[in.len] = '\0';
	return 0;
}

int
hostname_public(const char *name, const char **why)
{
	struct span s = span_str(name), want;

	for (size_t i = 0; i < nitems(hostname_special); i++) {
		want = span_str(hostname_special[i]);
		if (s.len < want.len ||
		    memcmp(s.p + s.len - want.len, want.p, want.len) != 0 ||
		    (s.len > want.len && s.p[s.len - want.len - 1] != '.'))
			continue;
		*why = "is a name of this machine or its network, or reserved";
		return -1;
	}
	return 0;
}
