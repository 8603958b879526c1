/* SPDX-License-Identifier: ISC */
/*
 * The forms of a credential, for tests. Takes only test keys, and keeps no
 * state.
 */
#include "unit/keyd/key_forms.h"

#include <openssl/evp.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static size_t
forms_base64(const char *k, size_t skew, char *plain, char *url)
{
	size_t len = strlen(k), b, skip, keep;
	unsigned char in[512], enc[FORM_MAX];

	memset(in, 'x', skew);
	memcpy(in + skew, k, len);
	b = (size_t)EVP_EncodeBlock(enc, in, (int)(skew + len));
	skip = skew == 0 ? 0 : skew + 1;
	while (b > 0 && enc[b - 1] == '=')
		b--;
	/*
	 * The last character of a partial group also encodes bits of what
	 * follows.
	 */
	keep = b - ((skew + len) % 3 != 0) - skip;
	snprintf(plain, FORM_MAX, "%.*s", (int)keep, enc + skip);
	snprintf(url, FORM_MAX, "%.*s", (int)keep, enc + skip);
	for (char *p = url; *p != '\0'; p++)
		*p = *p == '+' ? '-' : *p == '/' ? '_' : *p;
	return 2;
}

static bool
forms_plain(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z') || strchr("-._~", c) != NULL;
}

static void
forms_url(const char *k, bool upper, char *out)
{
	for (unsigned c; (c = (unsigned char)*k) != 0; k++) {
		if (forms_plain(*k))
			out += sprintf(out, "%c", (int)c);
		else if (upper)
			out += sprintf(out, "%%%02X", c);
		else
			out += sprintf(out, "%%%02x", c);
	}
}

static void
forms_json(const char *k, bool slash, char *out)
{
	for (; *k != '\0'; k++) {
		if (*k == '"' || *k == '\\' || (slash && *k == '/'))
			*out++ = '\\';
		*out++ = *k;
	}
	*out = '\0';
}

size_t
key_forms(const char *key, char out[FORMS_MAX][FORM_MAX])
{
	size_t n = 0, len = strlen(key);

	strcpy(out[n++], key);
	for (size_t skew = 0; skew < 3; skew++)
		n += forms_base64(key, skew, out[n], out[n + 1]);
	for (int upper = 0; upper < 2; upper++) {
		for (size_t i = 0; i < len; i++)
			sprintf(out[n] + 2 * i, upper ? "%02X" : "%02x",
			    (unsigned char)key[i]);
		n++;
	}
	forms_url(key, true, out[n]);
	n += strcmp(out[n], key) != 0;
	forms_url(key, false, out[n]);
	n += strcmp(out[n], key) != 0;
	forms_json(key, false, out[n]);
	n += strcmp(out[n], key) != 0;
	forms_json(key, true, out[n]);
	n += strcmp(out[n], key) != 0;
	return n;
}
