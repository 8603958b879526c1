/* SPDX-License-Identifier: ISC */
/*
 * `icctl budget` and `icctl metrics`: a session's limits and its use of them,
 * and how to raise a limit.
 */
#include "icctl/icctl.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/amount.h"
#include "base/json_get.h"
#include "base/json_put.h"
#include "common/plural.h"
#include "icctl/past/past.h"
#include "icctl/table.h"
#include "icctl/words.h"
#include "log/parts.h"
#include "resume/carry_read.h"

static const char *const budget_keys[] = {"maxTotalTokens", "maxSteps",
    "maxSessionSeconds", "maxEstimatedCostUsd", "maxTurnTokens", "maxTurnSteps",
    "maxTurnSeconds", "maxTurnEstimatedCostUsd"};

static double
number(json_object *o, const char *key)
{
	json_object *v;

	return json_object_object_get_ex(o, key, &v) ? json_object_get_double(v)
						     : 0;
}

static void
show_limits(json_object *budget)
{
	json_object *limits, *row, *max;
	double used;

	if (!json_object_object_get_ex(budget, "limits", &limits))
		return;
	for (size_t i = 0; i < nitems(budget_keys); i++) {
		if (!json_object_object_get_ex(limits, budget_keys[i], &row) ||
		    !json_object_object_get_ex(row, "max", &max))
			continue;
		used = number(row, "used");
		/* Limits of a turn are shown where there are any. */
		if (max == NULL && strncmp(budget_keys[i], "maxTurn", 7) == 0)
			continue;
		printf("  %-23s %14.*f", budget_keys[i],
		    strstr(budget_keys[i], "Usd") != NULL
			? amount_places(used, 4)
			: 0,
		    used);
		if (max == NULL)
			fputs("  no limit", stdout);
		else
			printf("  of %.15g (%.0f %%)",
			    json_object_get_double(max),
			    json_object_get_double(max) > 0
				? 100 * used / json_object_get_double(max)
				: 100.0);
		if (*icctl_text(row, "pending") != '\0')
			printf("; to raise it: icctl approve %s",
			    icctl_text(row, "pending"));
		putchar('\n');
	}
}

/* Print a table of what each model cost. */
static void
show_models(json_object *budget)
{
	static const struct table_column columns[] = {{"model", false},
	    {"in", true}, {"out", true}, {"cached", true}, {"written", true},
	    {"answers", true}, {"/min", true}, {"USD", true}};
	static const char *const keys[] = {
	    "in", "out", "cacheRead", "cacheWrite", "requests"};
	json_object *models, *m;
	struct table t;
	size_t n;

	if (!json_object_object_get_ex(budget, "models", &models) ||
	    (n = json_object_array_length(models)) == 0)
		return;
	table_begin(&t, columns, nitems(columns));
	t.indent = 2;
	for (size_t i = 0; i < n; i++) {
		m = json_object_array_get_idx(models, i);
		table_text(&t, span_str(icctl_text(m, "model")), 60);
		for (size_t k = 0; k < nitems(keys); k++)
			table_print(
			    &t, "%lld", (long long)icctl_number(m, keys[k]));
		table_print(&t, "%.1f", number(m, "requestsPerMinute"));
		table_print(&t, "%.*f", amount_places(number(m, "usd"), 4),
		    number(m, "usd"));
	}
	table_put(&t);
	table_free(&t);
}

void
icctl_show_usage(json_object *budget)
{
	json_object *models, *m;

	if (!json_object_object_get_ex(budget, "models", &models))
		return;
	for (size_t i = 0; i < json_object_array_length(models); i++) {
		m = json_object_array_get_idx(models, i);
		printf("-- %.60s: %lld tokens, %.*f USD, %lld answer%s, %.1f a "
		       "minute --\n",
		    icctl_text(m, "model"),
		    (long long)(icctl_number(m, "in") + icctl_number(m, "out") +
				icctl_number(m, "cacheRead") +
				icctl_number(m, "cacheWrite")),
		    amount_places(number(m, "usd"), 4), number(m, "usd"),
		    (long long)icctl_number(m, "requests"),
		    plural((uint64_t)icctl_number(m, "requests")),
		    number(m, "requestsPerMinute"));
	}
}

void
icctl_show_budget(json_object *budget)
{
	show_limits(budget);
	printf("  %lld tool call%s, %lld model request%s (%lld turn%s), "
	       "%lld bytes sent, %lld received\n",
	    (long long)icctl_number(budget, "toolCalls"),
	    plural((uint64_t)icctl_number(budget, "toolCalls")),
	    (long long)icctl_number(budget, "requests"),
	    plural((uint64_t)icctl_number(budget, "requests")),
	    (long long)icctl_number(budget, "modelTurns"),
	    plural((uint64_t)icctl_number(budget, "modelTurns")),
	    (long long)icctl_number(budget, "bytesSent"),
	    (long long)icctl_number(budget, "bytesReceived"));
	show_models(budget);
}

void
icctl_show_cost(json_object *budget)
{
	static const char *const shown[][2] = {{"maxEstimatedCostUsd", "USD"},
	    {"maxSteps", "steps"}, {"maxTotalTokens", "tokens"}};
	json_object *limits = NULL, *row, *max;
	double used;

	(void)json_object_object_get_ex(budget, "limits", &limits);
	for (size_t i = 0; i < nitems(shown); i++) {
		if (!json_object_object_get_ex(limits, shown[i][0], &row))
			continue;
		used = number(row, "used");
		printf("%s%.*f", i == 0 ? "" : ", ",
		    strcmp(shown[i][1], "USD") == 0 ? amount_places(used, 4)
						    : 0,
		    used);
		if (json_object_object_get_ex(row, "max", &max) && max != NULL)
			printf(" of %.15g", json_object_get_double(max));
		printf(" %s", shown[i][1]);
	}
}

/* Ask the session. Returns the reply, or NULL with an exit status in `*r`. */
static json_object *
budget_ask(struct icctl *ctl, json_object *req, int *r)
{
	json_object *reply = NULL;

	*r = ICCTL_OK;
	if ((reply = icctl_ask(ctl, req)) == NULL)
		*r = ICCTL_NO_SESSION;
	json_object_put(req);
	if (reply == NULL)
		return NULL;
	if (get_true(reply, "ok"))
		return reply;
	*r = icctl_refused(ctl, reply);
	json_object_put(reply);
	return NULL;
}

/*
 * Show what the session that has ended used, from its log. Returns false if it
 * runs; else the exit status is in `*r`.
 */
static bool
budget_ended(const struct icctl *ctl, int *r)
{
	const char *id = strrchr(ctl->dir, '/');
	json_object *o, *used;
	struct fault fault;
	static struct carry c;
	int fd = icctl_dial(ctl->dir), dir;
	double usd;

	if (fd != -1 || errno == EAGAIN) {
		if (fd != -1)
			close(fd);
		return false;
	}
	*r = ICCTL_FAILED;
	if ((dir = open(ctl->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1) {
		warn("%s", ctl->dir);
		return true;
	}
	if (!auditparts_any(dir)) {
		warnx("%s is not a session directory: it has no audit.jsonl",
		    ctl->dir);
		close(dir);
		*r = ICCTL_NO_SESSION;
		return true;
	}
	if (carry_read_all(&c, dir, ctl->dir, &fault) == -1) {
		warnx("%s", fault.text);
		close(dir);
		return true;
	}
	close(dir);
	*r = ICCTL_OK;
	usd = (double)c.last.micro_usd / 1e6;
	id = id == NULL ? ctl->dir : id + 1;
	if (ctl->json) {
		o = json_object_new_object();
		used = json_object_new_object();
		put_bool(o, "ok", true);
		put_str(o, "session", id);
		put_int(used, "tokens", (int64_t)c.last.tokens);
		put_int(used, "steps", (int64_t)c.last.steps);
		json_object_object_add(
		    used, "usd", json_object_new_double(usd));
		put_int(used, "seconds", (int64_t)(carry_ms(&c) / 1000));
		json_object_object_add(o, "used", used);
		icctl_put_json(o);
		json_object_put(o);
	} else {
		printf("session %s has ended; it used %.*f USD, %llu step%s, "
		       "%llu token%s and %llu s\n",
		    id, amount_places(usd, 4), usd,
		    (unsigned long long)c.last.steps, plural(c.last.steps),
		    (unsigned long long)c.last.tokens, plural(c.last.tokens),
		    (unsigned long long)(carry_ms(&c) / 1000));
	}
	carry_free(&c);
	return true;
}

int
icctl_budget(struct icctl *ctl, int argc, char **argv)
{
	json_object *req, *reply, *budget;
	bool set = argc == 4 && strcmp(argv[1], "set") == 0;
	int r;

	if (argc != 1 && !set)
		return words_usage();
	if ((r = icctl_find(ctl)) != 0 || (!set && budget_ended(ctl, &r)))
		return r;
	req = json_object_new_object();
	put_str(req, "op", set ? "budget-set" : "budget");
	if (set) {
		put_str(req, "key", argv[2]);
		put_str(req, "value", argv[3]);
	}
	if ((reply = budget_ask(ctl, req, &r)) == NULL)
		return r;
	if (ctl->json)
		icctl_put_json(reply);
	else if (json_object_object_get_ex(reply, "budget", &budget))
		icctl_show_budget(budget);
	json_object_put(reply);
	return ICCTL_OK;
}

int
icctl_metrics(struct icctl *ctl, int argc, char **argv)
{
	json_object *req, *reply;
	int r;

	if (argc != 1 || (words_given("--textfile") && !words_given("--all")))
		return words_usage();
	if (words_given("--all"))
		return past_metrics(ctl);
	if ((r = icctl_find(ctl)) != 0)
		return r;
	req = json_object_new_object();
	put_str(req, "op", "metrics");
	if ((reply = budget_ask(ctl, req, &r)) == NULL)
		return r;
	if (ctl->json)
		icctl_put_json(reply);
	else
		fputs(icctl_text(reply, "metrics"), stdout);
	json_object_put(reply);
	return ICCTL_OK;
}
