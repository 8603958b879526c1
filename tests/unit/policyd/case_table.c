/* SPDX-License-Identifier: ISC */
#include "unit/policyd/case_table.h"

#include <ctype.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reading {
	const struct case_reader *r;
	const char *name;
	unsigned line;
	struct case_group group;
	bool open; /* group whose rows have not begun */
};

static void
bad(const struct reading *rd, const char *what)
{
	errx(1, "%s:%u: %s", rd->name, rd->line, what);
}

static void
append(char **s, const char *more)
{
	char *out;

	if (asprintf(&out, "%s%s", *s, more) == -1)
		err(1, "asprintf");
	free(*s);
	*s = out;
}

static void
set(char **s, const char *text)
{
	free(*s);
	if ((*s = strdup(text)) == NULL)
		err(1, "strdup");
}

/* Returns the next word and moves *s past it and the blanks after it. */
static char *
word(char **s)
{
	char *start = *s, *end = start + strcspn(start, " ");

	*s = end + strspn(end, " ");
	if (*end != '\0')
		*end = '\0';
	return start;
}

static void
begin_group(struct reading *rd, const char *kind, const char *title)
{
	set(&rd->group.kind, kind);
	set(&rd->group.title, title);
	set(&rd->group.rules, "");
	set(&rd->group.lists, "");
	rd->open = true;
}

static void
add_rule(struct reading *rd, const char *then, char *rest)
{
	const char *name = word(&rest);
	char *rule;

	if (!rd->open || *rest != '{')
		bad(rd, "a rule without a group, a name or conditions");
	if (asprintf(&rule,
		"%s{\"name\":\"%s\",\"if\":%s,\"then\":\"%s\","
		"\"reason\":\"because %s\"}",
		*rd->group.rules == '\0' ? "" : ",", name, rest, then,
		name) == -1)
		err(1, "asprintf");
	append(&rd->group.rules, rule);
	free(rule);
}

/* VERDICT [RULE [ROLES]] ["TEXT"] */
static void
read_result(struct reading *rd, struct case_row *row, char *s)
{
	char *quote = strchr(s, '"'), *end;

	row->text = row->rule = row->roles = s + strlen(s);
	if (quote != NULL) {
		end = strrchr(s, '"');
		if (end == quote || end[1] != '\0')
			bad(rd, "a text that does not end the line");
		*end = '\0';
		row->text = quote + 1;
		*quote = '\0';
		while (quote > s && quote[-1] == ' ')
			*--quote = '\0';
	}
	row->verdict = word(&s);
	if (*s != '\0')
		row->rule = word(&s);
	if (*s != '\0')
		row->roles = word(&s);
	if (*s != '\0')
		bad(rd, "more than a verdict, a rule and roles");
}

/* Returns the end of the title, which may contain colons. */
static char *
title_end(char *s)
{
	char *brace = strchr(s, '{'), *arrow = strstr(s, " => "), *end = NULL;

	for (char *p = s; (p = strstr(p, ": ")) != NULL; p++) {
		if ((brace == NULL || p < brace) &&
		    (arrow == NULL || p < arrow))
			end = p;
	}
	return end;
}

static void
read_row(struct reading *rd, char *s)
{
	struct case_row row = {.file = rd->name, .line = rd->line, .times = 1};
	char *arrow = NULL, *sign;

	row.statement = word(&s);
	sign = word(&s);
	if (strcmp(sign, "+") != 0 && strcmp(sign, "-") != 0)
		bad(rd, "neither + nor - after the statement");
	row.applies = *sign == '+';
	row.title = s;
	if ((s = title_end(s)) == NULL)
		bad(rd, "no title");
	*s = '\0';
	s += 2;
	for (char *p = s; (p = strstr(p, " => ")) != NULL; p++)
		arrow = p;
	if (arrow == NULL)
		bad(rd, "no =>");
	*arrow = '\0';
	row.server = word(&s);
	if (isdigit((unsigned char)*row.server) &&
	    row.server[strlen(row.server) - 1] == 'x') {
		row.times = (unsigned)strtoul(row.server, NULL, 10);
		row.server = word(&s);
	}
	row.tool = word(&s);
	row.args = s;
	read_result(rd, &row, arrow + 4);
	if (rd->open && rd->r->group != NULL)
		rd->r->group(rd->r->arg, &rd->group);
	rd->open = false;
	rd->r->row(rd->r->arg, &row);
}

static void
read_line(struct reading *rd, char *s)
{
	const char *first;
	char *copy;

	if (isdigit((unsigned char)*s) || (isupper((unsigned char)*s) &&
					      s[1] == '.')) {
		read_row(rd, s);
		return;
	}
	if ((copy = strdup(s)) == NULL)
		err(1, "strdup");
	s = copy;
	first = word(&s);
	if (strcmp(first, "engine") == 0 || strcmp(first, "session") == 0 ||
	    strcmp(first, "files") == 0 || strcmp(first, "servers") == 0 ||
	    strcmp(first, "roots") == 0)
		begin_group(rd, first, s);
	else if (strcmp(first, "allow") == 0 || strcmp(first, "deny") == 0 ||
		 strcmp(first, "escalate") == 0)
		add_rule(rd, first, s);
	else if (strcmp(first, "lists") == 0)
		set(&rd->group.lists, s);
	else if (rd->r->line != NULL)
		rd->r->line(rd->r->arg, first, s);
	else
		bad(rd, "what is this?");
	free(copy);
}

char *
case_slurp(const char *dir, const char *name)
{
	char path[4096], *text;
	size_t n, cap = 8 << 20;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if ((f = fopen(path, "re")) == NULL || (text = malloc(cap)) == NULL)
		err(1, "%s", path);
	if ((n = fread(text, 1, cap, f)) == cap)
		errx(1, "%s: too large", path);
	fclose(f);
	text[n] = '\0';
	return text;
}

void
case_read(const char *dir, const char *name, const struct case_reader *r)
{
	struct reading rd = {.r = r, .name = name};
	char *text = case_slurp(dir, name), *line = text, *end;

	for (; *line != '\0'; line = end) {
		end = line + strcspn(line, "\n");
		if (*end != '\0')
			*end++ = '\0';
		rd.line++;
		if (*line != '\0' && *line != '#')
			read_line(&rd, line);
	}
	free(text);
	free(rd.group.kind);
	free(rd.group.title);
	free(rd.group.rules);
	free(rd.group.lists);
}
