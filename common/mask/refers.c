/* SPDX-License-Identifier: ISC */
/* Values that hold no secret: they name a place for one, or say that none is
 * set. */
#include "common/mask/mask_priv.h"

/* clang-format off */
/* Values that are none. */
static const char *const nones[] = {"", "none", "null", "nil", "true", "false",
    "undefined", "string", "str", "text", "number", "bool", "boolean", "int",
    "bytes", "any", "object", "required", "optional", "prompt", "ask", "auto",
    "default", "disabled", "enabled", "password", "passwd", "secret", "token",
    "apikey", "basic", "bearer", "digest", "hidden", "redacted", "masked",
    "unset", "empty", "yes", "no", "on", "off", "self", "inherit", "file",
    "cookie", "credentials", "sameorigin"};
/* clang-format on */

size_t
mask_plain(struct span name, char dst[MASK_PLAIN])
{
	size_t n = 0;

	if (name.len >= MASK_PLAIN) {
		name.p += name.len - MASK_PLAIN + 1;
		name.len = MASK_PLAIN - 1;
	}
	for (size_t i = 0; i < name.len; i++) {
		uint8_t c = name.p[i];

		if (mask_is(c, MASK_ALNUM))
			dst[n++] = (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
	}
	dst[n] = '\0';
	return n;
}

bool
mask_one_byte(struct span s)
{
	size_t i = 1;

	while (i < s.len && i < MASK_PLAIN && s.p[i] == s.p[0])
		i++;
	return i >= s.len || i == MASK_PLAIN;
}

bool
mask_refers(struct span v)
{
	static const char *const begins[] = {"$", "{{", "<", "%(",
	    "process.env", "os.environ", "os.getenv", "getenv(",
	    "System.getenv", "ENV[", "env.", "env(", "secrets.", "!Ref", "!Sub",
	    "!GetAtt", "!vault", "!secret", "your-", "your_", "YOUR-", "YOUR_",
	    "op://", "vault:", "ssm:", "arn:"};
	char text[MASK_PLAIN];

	/* "$2y$10$..." is a hash. */
	if (v.len > 2 && v.p[0] == '$' && mask_is(v.p[1], MASK_DIGITS))
		return false;
	for (size_t i = 0; i < nitems(begins); i++)
		if (span_starts(v, span_str(begins[i])))
			return true;
	if (v.len > 2 && v.p[0] == '%' && v.p[v.len - 1] == '%')
		return true;
	if (mask_one_byte(v))
		return v.len == 0 || !mask_is(v.p[0], MASK_DIGITS);
	if (v.len >= MASK_PLAIN)
		return false;
	(void)mask_plain(v, text);
	for (size_t i = 0; i < nitems(nones); i++)
		if (strcmp(text, nones[i]) == 0)
			return true;
	return false;
}
