/* SPDX-License-Identifier: ISC */
/*
 * The bytes that a path segment may contain, according to the provider's
 * alphabet. Most allow plain words only. Vertex has `@` before a model's
 * version. Bedrock takes a model's id as one segment: an id in which `:` may be
 * written %3A, or an ARN in which `/` must be written %2F. An ARN is parsed
 * completely here, so that the decoded path cannot surprise another program. No
 * other escape is accepted.
 */
#include "provider/provider.h"

#include "provider/class.h"

#define ALPHABET_MAX_ID 512U

/*
 * Check that the ARN names Bedrock in the configured region and one of the
 * model types.
 */
static bool
alphabet_arn(const struct provider *p, struct span s)
{
	static const char *const types[] = {"application-inference-profile",
	    "custom-model-deployment", "foundation-model", "imported-model",
	    "inference-profile", "provisioned-model"};
	static const char *const partitions[] = {
	    "aws", "aws-cn", "aws-eusc", "aws-us-gov"};
	struct span part[6];
	const uint8_t *at;
	size_t i;

	for (i = 0; i < 5; i++) {
		if ((at = memchr(s.p, ':', s.len)) == NULL)
			return false;
		part[i] = span_of(s.p, (size_t)(at - s.p));
		s = span_of(at + 1, s.len - part[i].len - 1);
	}
	if ((at = memchr(s.p, '/', s.len)) == NULL)
		return false;
	part[5] = span_of(s.p, (size_t)(at - s.p));
	s = span_of(at + 1, s.len - part[5].len - 1);
	for (i = 0; i < nitems(partitions); i++)
		if (span_is(part[1], partitions[i]))
			break;
	if (i == nitems(partitions) || !span_is(part[0], "arn") ||
	    !span_is(part[2], "bedrock") || part[3].len == 0 ||
	    !span_eq(part[3], p->sigv4.region))
		return false;
	/* Amazon's own models have no account. */
	if (part[4].len != 0 && part[4].len != 12)
		return false;
	for (i = 0; i < part[4].len; i++)
		if (part[4].p[i] < '0' || part[4].p[i] > '9')
			return false;
	for (i = 0; i < nitems(types); i++)
		if (span_is(part[5], types[i]))
			return provider_is_segment(s);
	return false;
}

/* Check a model's id or ARN. */
static bool
alphabet_bedrock(const struct provider *p, struct span s)
{
	uint8_t plain[ALPHABET_MAX_ID];
	bool slash = false;
	size_t n = 0;

	for (size_t i = 0; i < s.len; i++) {
		if (n == sizeof(plain))
			return false;
		plain[n] = s.p[i];
		if (s.p[i] == '%') {
			if (s.len - i < 3)
				return false;
			if (memcmp(s.p + i, "%3A", 3) == 0)
				plain[n] = ':';
			else if (memcmp(s.p + i, "%2F", 3) == 0)
				plain[n] = '/';
			else
				return false;
			i += 2;
		} else if (s.p[i] == '/') {
			return false;
		}
		slash = slash || plain[n] == '/';
		n++;
	}
	if (slash)
		return alphabet_arn(p, span_of(plain, n));
	return provider_is_segment(span_of(plain, n));
}

/* Check a word, or two joined by one `@`: "claude@20250514:rawPredict". */
static bool
alphabet_vertex(struct span s)
{
	const uint8_t *at;
	struct span name;

	if (s.len == 0 || (at = memchr(s.p, '@', s.len)) == NULL)
		return provider_is_segment(s);
	name = span_of(s.p, (size_t)(at - s.p));
	return provider_is_segment(name) &&
	       provider_is_segment(span_of(at + 1, s.len - name.len - 1));
}

bool
provider_segment_ok(const struct provider *p, struct span s)
{
	switch (p->alphabet) {
	case PROVIDER_WORDS:
		return provider_is_segment(s);
	case PROVIDER_BEDROCK:
		return alphabet_bedrock(p, s);
	case PROVIDER_VERTEX:
		return alphabet_vertex(s);
	}
	return false;
}

int
provider_alphabet_find(struct span s)
{
	if (span_is(s, "bedrock"))
		return PROVIDER_BEDROCK;
	return span_is(s, "vertex") ? PROVIDER_VERTEX : -1;
}

const char *
provider_path_why(const struct provider *p)
{
	switch (p->alphabet) {
	case PROVIDER_WORDS:
		break;
	case PROVIDER_BEDROCK:
		return "the path holds a dot or empty segment, characters "
		       "other than letters, digits and -._:, or an escape "
		       "that is not %3A, or %2F in an ARN of this region";
	case PROVIDER_VERTEX:
		return "the path holds an escape, a dot or empty segment, or "
		       "characters other than letters, digits and -._:@";
	}
	return "the path holds an escape, a dot or empty segment, or "
	       "characters other than letters, digits and -._:";
}
