/* SPDX-License-Identifier: ISC */
/*
 * Counts and shows a finding of `icctl policy check`: a line for people, an
 * object for programs.
 */
#include "icctl/policy/lint.h"

#include <stdarg.h>
#include <stdio.h>

static void
finding_json(struct findings *f, bool error, const char *file, unsigned line,
    const char *kind, const char *place, const char *text)
{
	if (f->out.len != 0)
		buf_addc(&f->out, ',');
	buf_printf(
	    &f->out, "{\"severity\":\"%s\",", error ? "error" : "warning");
	policy_put_member(&f->out, "kind", span_str(kind));
	buf_addc(&f->out, ',');
	policy_put_member(&f->out, "file", span_str(file));
	if (line != 0)
		buf_printf(&f->out, ",\"line\":%u", line);
	if (place[0] != '\0') {
		buf_addc(&f->out, ',');
		policy_put_member(&f->out, "path", span_str(place));
	}
	buf_addc(&f->out, ',');
	policy_put_member(&f->out, "text", span_str(text));
	buf_addc(&f->out, '}');
}

void
finding_report(struct findings *f, bool error, const char *file, unsigned line,
    const char *kind, const char *place, const char *text)
{
	if (error)
		f->errors++;
	else
		f->warnings++;
	if (f->json) {
		finding_json(f, error, file, line, kind, place, text);
		return;
	}
	policy_print("", span_str(file), ":");
	if (line != 0)
		printf("%u:", line);
	printf(" %s: ", error ? "error" : "warning");
	if (place[0] != '\0')
		policy_print("", span_str(place), ": ");
	/* The parts of the text were escaped when it was composed. */
	for (const char *s = text; *s != '\0'; s++)
		putchar(*s >= ' ' && *s < 0x7f ? *s : '?');
	putchar('\n');
}

void
finding(struct findings *f, bool error, unsigned file, const char *kind,
    const char *place, const char *fmt, ...)
{
	const struct policy_file *pf = &f->set->files[file];
	char text[2100];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	finding_report(f, error, pf->path == NULL ? "?" : pf->path,
	    pf->path == NULL || place[0] == '\0' ? 0 : policy_line(pf, place),
	    kind, place, text);
}
