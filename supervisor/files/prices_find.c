/* SPDX-License-Identifier: ISC */
/*
 * Finds the price of a model by the name that an answer gives it, and computes
 * what an answer has cost.
 */
#include "files/prices.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define FIND_NAME 160U

/*
 * Returns what follows a cloud's names of places and makers:
 * "us-gov.anthropic.claude-x". No such name has a digit.
 */
static const char *
find_after_maker(const char *name)
{
	const char *from = name;

	for (const char *p = name; *p != '\0' && !isdigit((unsigned char)*p) &&
				   *p != ':';
	     p++) {
		if (*p == '.' && isalpha((unsigned char)p[1]))
			from = p + 1;
	}
	return from;
}

/* Write the name in the form in which names are compared. */
static void
find_fold(const char *model, char dst[FIND_NAME])
{
	const char *slash = strrchr(model, '/');
	size_t n = 0;

	model = find_after_maker(slash != NULL ? slash + 1 : model);
	for (; *model != '\0' && n < FIND_NAME - 1; model++)
		dst[n++] =
		    *model == '.' ? '-' : (char)tolower((unsigned char)*model);
	dst[n] = '\0';
}

/* Cut the end of a name, if it has this form, in which # stands for a digit. */
static void
find_cut_end(char *s, const char *form)
{
	size_t n = strlen(s), len = strlen(form), i = 0;
	const char *end = s + n - len;

	if (n <= len)
		return;
	while (i < len && (form[i] == '#' ? isdigit((unsigned char)end[i]) != 0
					  : end[i] == form[i]))
		i++;
	if (i == len)
		s[n - len] = '\0';
}

/*
 * Cut what names a version or an offer of the same model: "-v1:0", "-1:0",
 * "-v1", "@20260131", "[1m]", a date, "-latest", "-maas".
 */
static void
find_cut(char *s)
{
	static const char *const ends[] = {
	    "-latest", "-maas", "-v1", "-########", "-####-##-##"};
	size_t n = strcspn(s, ":@[");
	bool version = s[n] == ':' && isdigit((unsigned char)s[n + 1]) &&
		       (s[n + 2] == '\0' || s[n + 2] == ':');

	s[n] = '\0';
	if (version && n > 3 && isdigit((unsigned char)s[n - 1])) {
		n -= s[n - 2] == 'v' ? 3 : 2;
		s[n] = s[n] == '-' ? '\0' : s[n];
	}
	for (size_t i = 0; i < nitems(ends); i++)
		find_cut_end(s, ends[i]);
}

/*
 * Returns the word in a name that tells a kind of model, which has prices of
 * its own, or NULL.
 */
static const char *
find_kind(const char *name)
{
	static const char *const kinds[] = {"image", "audio", "live", "tts",
	    "realtime", "video", "transcribe", "deep-research", "search"};

	for (size_t i = 0; i < nitems(kinds); i++) {
		if (strstr(name, kinds[i]) != NULL)
			return kinds[i];
	}
	return NULL;
}

/*
 * Returns true if the row's name fits the whole one, or the one that was cut.
 * What a star stands for is no other kind of model.
 */
static bool
find_fits(const char *row, const char *whole, const char *cut)
{
	char name[FIND_NAME];
	const char *kind;
	size_t n;

	find_fold(row, name);
	n = strlen(name);
	if (n != 0 && name[n - 1] == '*')
		return strncmp(name, whole, n - 1) == 0 &&
		       ((kind = find_kind(whole)) == NULL ||
			   strstr(name, kind) != NULL);
	return strcmp(name, whole) == 0 || strcmp(name, cut) == 0;
}

/*
 * Returns true if the host is the one, or has the end, that is written so. ""
 * is any, and a host that is not known (NULL) may be any.
 */
static bool
find_at(const char *written, const char *host)
{
	size_t n, len = strlen(written);

	if (len == 0 || host == NULL)
		return true;
	if (written[0] != '*')
		return strcasecmp(written, host) == 0;
	n = strlen(host) + 1;
	return n >= len && strcasecmp(written + 1, host + n - len) == 0;
}

bool
prices_regional(const struct prices *ps, const char *host)
{
	for (unsigned i = 0; i < ps->nregional; i++)
		if (find_at(ps->regional[i].host, host))
			return true;
	return false;
}

/* Returns the family of a name, or -1. */
static int
find_family(const struct prices *ps, const char *name)
{
	for (unsigned i = 0; i < ps->nfamilies; i++) {
		const char *begins = ps->families[i].begins;

		if (strncmp(name, begins, strlen(begins)) == 0)
			return (int)ps->families[i].family;
	}
	return -1;
}

bool
price_dearer(const struct price *a, const struct price *b)
{
	return b == NULL || a->set.out > b->set.out ||
	       (a->set.out == b->set.out && a->set.in > b->set.in);
}

/*
 * Returns the dearest row of the name's family at this host, and of its kind if
 * it names one: such a model costs no less than the family.
 */
static const struct price *
find_in_family(const struct prices *ps, const char *host, const char *of)
{
	const char *kind = find_kind(of);
	const int family = find_family(ps, of);
	const struct price *best = NULL;
	char name[FIND_NAME];

	for (unsigned i = 0; family != -1 && i < ps->n; i++) {
		const struct price *p = &ps->rows[i];

		find_fold(p->model, name);
		if ((!p->special || (kind != NULL && strstr(name, kind))) &&
		    find_at(p->host, host) && price_dearer(p, best) &&
		    find_family(ps, name) == family)
			best = p;
	}
	return best;
}

const struct price *
prices_find(const struct prices *ps, const char *host, const char *model,
    enum price_how *how)
{
	char whole[FIND_NAME], cut[FIND_NAME];
	const struct price *p, *best = NULL, *rest = NULL;

	find_fold(model, whole);
	snprintf(cut, sizeof(cut), "%s", whole);
	find_cut(cut);
	*how = PRICE_OWN;
	for (unsigned i = 0; i < ps->n && (best == NULL || host == NULL); i++) {
		p = &ps->rows[i];
		if (p->rest)
			rest = p;
		else if (find_at(p->host, host) && price_dearer(p, best) &&
			 find_fits(p->model, whole, cut))
			best = p;
	}
	if (best != NULL)
		return best;
	*how = PRICE_FAMILY;
	if ((p = find_in_family(ps, host, whole)) != NULL)
		return p;
	*how = PRICE_REST;
	return rest;
}

/* Returns the prices for a request of this size. */
static const struct price_set *
price_set_of(const struct price *p, const struct price_use *u)
{
	double all =
	    (double)u->in + (double)u->cache_read + (double)u->cache_write;
	const struct price_set *s = &p->set;

	for (unsigned i = 0; i < p->nsteps; i++) {
		if (all > p->steps[i].above)
			s = &p->steps[i].set;
	}
	return s;
}

double
price_usd(const struct price *p, const struct price_use *u)
{
	const struct price_set *s;
	double usd, write, stated = (double)u->cost / 1e9;

	if (p == NULL)
		return stated;
	s = price_set_of(p, u);
	write = (double)u->cache_write - (double)u->cache_write_1h;
	/* Audio has a price of its own, which no size of a request changes. */
	usd = ((double)u->in - (double)u->audio_in) * s->in +
	      ((double)u->out - (double)u->audio_out) * s->out +
	      (double)u->audio_in * p->audio_in +
	      (double)u->audio_out * p->audio_out +
	      (double)u->cache_read * s->cache_read + write * s->cache_write +
	      (double)u->cache_write_1h * s->cache_write_1h;
	usd *= u->fast ? p->fast : 1;
	usd *= u->regional ? p->regional : 1;
	usd *= p->tiers[u->tier < nitems(p->tiers) ? u->tier : 0];
	usd = usd / 1e6 + (double)u->searches * p->search / 1e3;
	return usd > stated ? usd : stated;
}

double
price_tokens(const struct price *p, const struct price_use *u)
{
	double read = (double)u->cache_read, write = (double)u->cache_write;
	double hour = (double)u->cache_write_1h;

	if (p != NULL && p->set.in > 0) {
		write = (write - hour) * p->set.cache_write / p->set.in +
			hour * p->set.cache_write_1h / p->set.in;
		read *= p->set.cache_read / p->set.in;
	}
	return (double)u->in + (double)u->out + read + write;
}
