/* SPDX-License-Identifier: ISC */
/*
 * A server's question, as a terminal, a pager and a test get it. All of its
 * words are shown: an answer is to the whole question.
 */
#include "icctl/hold/hold_question.h"

#include "asks/form.h"
#include "base/json_get.h"
#include "common/json/json.h"

#define QUESTION_POOL ((size_t)4 << 20)

/* Print the options of a choice, as they are typed. */
static void
put_options(struct hold_text *t, const struct form_field *k)
{
	struct span o, label;

	for (unsigned i = 0; (o = form_option(k, i, &label)).p != NULL; i++) {
		fputs("      ", t->out);
		hold_text_quoted(t, o);
		if (label.p != NULL && !span_eq(label, o)) {
			fputs(", called ", t->out);
			hold_text_quoted(t, label);
		}
		fputc('\n', t->out);
	}
}

/* Print the limits of a number or of a count, if there are any. */
static void
put_limits(struct hold_text *t, const struct form_field *k)
{
	const char *of = k->type == FORM_SEVERAL ? " options" : " characters";

	if (k->least != NULL) {
		fputs(", at least ", t->out);
		hold_text_plain(t, k->least->text);
	}
	if (k->most != NULL) {
		fputs(", at most ", t->out);
		hold_text_plain(t, k->most->text);
	}
	if (k->min != 0)
		fprintf(t->out, ", at least %llu%s", (unsigned long long)k->min,
		    of);
	if (k->max != UINT64_MAX)
		fprintf(t->out, ", at most %llu%s", (unsigned long long)k->max,
		    of);
}

static void
put_preset(struct hold_text *t, const struct form_field *k)
{
	struct buf b;

	if (k->preset == NULL)
		return;
	fputs(", unless you say otherwise ", t->out);
	buf_init(&b, FORM_MAX_TEXT * FORM_MAX_OPTIONS);
	if (k->preset->type == VALUE_STRING) {
		hold_text_quoted(t, k->preset->text);
	} else if (k->preset->type == VALUE_TRUE ||
		   k->preset->type == VALUE_FALSE) {
		fputs(k->preset->type == VALUE_TRUE ? "yes" : "no", t->out);
	} else {
		(void)json_write(&b, k->preset);
		hold_text_plain(t, buf_span(&b));
	}
	buf_free(&b);
}

static void
put_field(struct hold_text *t, const struct form_field *k)
{
	static const char *const kinds[] = {
	    [FORM_TEXT] = "a text",
	    [FORM_NUMBER] = "a number",
	    [FORM_INTEGER] = "a whole number",
	    [FORM_YES_NO] = "yes or no",
	    [FORM_ONE] = "one of",
	    [FORM_SEVERAL] = "some of, with commas between",
	};

	fputs("    ", t->out);
	hold_text_plain(t, k->name);
	fprintf(t->out, "%s: %s", k->required ? "" : " (optional)",
	    kinds[k->type]);
	if (k->format.p != NULL) {
		fputs(", of the form ", t->out);
		hold_text_quoted(t, k->format);
	}
	put_limits(t, k);
	put_preset(t, k);
	fputc('\n', t->out);
	put_options(t, k);
	if (k->title.p != NULL) {
		fputs("      titled ", t->out);
		hold_text_quoted(t, k->title);
		fputc('\n', t->out);
	}
	if (k->description.p != NULL) {
		fputs("      described as ", t->out);
		hold_text_quoted(t, k->description);
		fputc('\n', t->out);
	}
}

static bool
put_form(struct hold_text *t, const struct value *asked)
{
	struct form f;

	if (form_from_schema(&f, value_get(asked, "requestedSchema")) == -1)
		return false;
	if (f.n == 0)
		fputs("  no fields: your consent is all that is asked for\n",
		    t->out);
	else
		fputs("  fields\n", t->out);
	for (unsigned i = 0; i < f.n; i++)
		put_field(t, &f.fields[i]);
	fputs("  Type no password, key or code: the server gets what you "
	      "answer.\n",
	    t->out);
	return true;
}

/* The host first: an address says much that distracts from it. */
static bool
put_address(struct hold_text *t, const struct value *asked)
{
	struct span host = value_str(asked, "host"),
		    url = value_str(asked, "url");

	if (host.p == NULL || url.p == NULL)
		return false;
	fputs("  host     ", t->out);
	hold_text_plain(t, host);
	if (memmem(host.p, host.len, "xn--", 4) != NULL)
		fputs("   (careful: xn-- stands for letters of other scripts; "
		      "the name may look like another one)",
		    t->out);
	fputs("\n  address  ", t->out);
	hold_text_quoted(t, url);
	fputs("\n  Nothing opens it but your key; what you do there, the "
	      "server may see.\n",
	    t->out);
	return true;
}

static bool
put_question(struct hold_text *t, json_object *hold, const struct value *asked)
{
	const struct value *call = value_get(asked, "call");
	struct span message = value_str(asked, "message");
	const bool form = value_get(asked, "url") == NULL;
	int64_t others = 0;

	if (message.p == NULL || value_str(call, "tool").p == NULL)
		return false;
	(void)value_int(value_get(call, "others"), 0, UINT32_MAX, &others);
	fputs("  ", t->out);
	hold_text_again(t, get_span(hold, "server"));
	fprintf(t->out, " %s during its call ",
	    form ? "asks you" : "wants you to open an address");
	hold_text_plain(t, value_str(call, "tool"));
	if (others != 0)
		fprintf(t->out, ", or one of %lld others that are open",
		    (long long)others);
	fputs("\n  it says  ", t->out);
	hold_text_quoted(t, message);
	fputc('\n', t->out);
	return form ? put_form(t, asked) : put_address(t, asked);
}

bool
hold_question(struct hold_text *t, json_object *hold)
{
	struct value_pool *pool = value_pool_new(QUESTION_POOL);
	const struct value *asked = NULL;
	bool good;

	if (pool != NULL)
		asked = json_read(pool, get_span(hold, "arguments"), NULL);
	good = asked != NULL && put_question(t, hold, asked);
	value_pool_free(pool);
	return good;
}
