/* SPDX-License-Identifier: ISC */
/*
 * Shows the approvals of more than one call that the last run left, and asks
 * which of them shall apply again. icsupervisor reads them from the log by
 * itself; it gets the digest of each that was shown and confirmed.
 */
#include "icctl/talk/keep.h"

#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "common/log.h"
#include "common/time_text.h"

#define KEEP_ANSWER 256U

static void
keep_show(const struct carry_grant *g, unsigned n)
{
	json_object *v = NULL;
	char vis[1200], rule[600], when[TIME_TEXT];

	json_object_object_get_ex(g->text, "description", &v);
	log_vis(span_str(v == NULL ? "" : json_object_get_string(v)), vis,
	    sizeof(vis));
	json_object_object_get_ex(g->text, "rule", &v);
	log_vis(span_str(v == NULL ? "" : json_object_get_string(v)), rule,
	    sizeof(rule));
	fprintf(stderr, "%3u  %s\n     rule %s, approved %s\n", n, vis, rule,
	    time_text_local((int64_t)g->made, when));
}

/* Read "1 3" into `keep`. Returns false if it is no such list. */
static bool
keep_numbers(const char *s, unsigned n, bool *keep)
{
	unsigned long i;
	char *end;

	for (s += strspn(s, " ,"); *s != '\0'; s = end + strspn(end, " ,")) {
		if (*s < '0' || *s > '9')
			return false;
		i = strtoul(s, &end, 10);
		if (i == 0 || i > n)
			return false;
		keep[i - 1] = true;
	}
	return true;
}

/* Returns the terminal of the person who is there to answer, or NULL. */
static FILE *
keep_person(void)
{
	FILE *tty = NULL;
	int fd;

	if (!isatty(STDERR_FILENO) ||
	    (fd = open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY)) == -1)
		return NULL;
	/* In the background there is nobody to be asked. */
	if (tcgetpgrp(fd) != getpgrp() || (tty = fdopen(fd, "r")) == NULL)
		close(fd);
	return tty;
}

/* Returns true if the line is one of these words. */
static bool
keep_word(const char *line, const char *const *words)
{
	for (; *words != NULL; words++)
		if (strcasecmp(line, *words) == 0)
			return true;
	return false;
}

/* Ask until there is an answer. Returns false if there is none. */
static bool
keep_ask(FILE *tty, unsigned n, bool *keep)
{
	static const char *const all[] = {"all", "a", NULL},
				 *const yes[] = {"y", "yes", NULL},
				 *const no[] = {"n", "no", "none", NULL};
	char line[KEEP_ANSWER];

	/* Keys that were typed before the list was shown are no answer. */
	(void)tcflush(fileno(tty), TCIFLUSH);
	for (;;) {
		fputs(n == 1 ? "Shall it apply again? y, or Enter for no: "
			     : "Which of them shall apply again? all, their "
			       "numbers, or Enter for none: ",
		    stderr);
		fflush(stderr);
		if (fgets(line, sizeof(line), tty) == NULL) {
			fputc('\n', stderr);
			return false;
		}
		line[strcspn(line, "\n")] = '\0';
		memset(keep, 0, n * sizeof(*keep));
		if (keep_word(line, all) || (n == 1 && keep_word(line, yes))) {
			memset(keep, 1, n * sizeof(*keep));
			return true;
		}
		if (keep_word(line, no))
			return true;
		if (keep_numbers(line, n, keep))
			return true;
		fputs(n == 1 ? "Type y, or only Enter.\n"
			     : "Type all, or numbers from the list, as in: 1 3\n",
		    stderr);
	}
}

size_t
keep_options(const struct carry *c, bool can_ask, char *out[CARRY_GRANTS])
{
	bool keep[CARRY_GRANTS] = {false};
	char hex[SHA256_HEX];
	size_t n = 0;
	FILE *tty;
	bool answered;

	if (c->ngrants == 0)
		return 0;
	if (!can_ask || (tty = keep_person()) == NULL) {
		warnx("%u approval%s of the last run end%s: nobody is here to "
		      "confirm. With --keep-grants those of the last 24 hours "
		      "stay",
		    c->ngrants, c->ngrants == 1 ? "" : "s",
		    c->ngrants == 1 ? "s" : "");
		return 0;
	}
	fputs("In the last run you approved more than one call:\n", stderr);
	for (unsigned i = 0; i < c->ngrants; i++)
		keep_show(&c->grants[i], i + 1);
	answered = keep_ask(tty, c->ngrants, keep);
	fclose(tty);
	if (!answered)
		return 0;
	for (unsigned i = 0; i < c->ngrants; i++) {
		if (!keep[i])
			continue;
		carry_grant_hash(&c->grants[i], hex);
		if (asprintf(&out[n], "%llu:%s",
			(unsigned long long)c->grants[i].key, hex) != -1)
			n++;
	}
	return n;
}
