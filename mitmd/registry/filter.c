/* SPDX-License-Identifier: ISC */
/*
 * Filters the metadata of a package with the filter for its form. All input
 * comes from the registry.
 */
#include "registry/filter.h"

#include <stdlib.h>

enum registry_form
registry_form(enum registry r, struct span accept)
{
	static const char json[] = "application/vnd.pypi.simple.v1+json",
			  html[] = "application/vnd.pypi.simple.v1+html",
			  latest[] = "application/vnd.pypi.simple.latest+json",
			  brief[] = "application/vnd.npm.install-v1+json";

#define FORM_NAMED(lit)                                                        \
	(accept.len != 0 &&                                                    \
	    memmem(accept.p, accept.len, lit, sizeof(lit) - 1) != NULL)
	switch (r) {
	case REGISTRY_NPM:
		return FORM_NAMED(brief) ? REGISTRY_FORM_NPM_SHORT
					 : REGISTRY_FORM_NPM;
	case REGISTRY_PYPI:
		if (FORM_NAMED(json) || FORM_NAMED(latest))
			return REGISTRY_FORM_PYPI_JSON;
		return FORM_NAMED(html) ? REGISTRY_FORM_PYPI_HTML_V1
					: REGISTRY_FORM_PYPI_HTML;
	case REGISTRY_CRATES:
	case REGISTRY_DEBIAN:
	case REGISTRY_COUNT:
		break;
	}
#undef FORM_NAMED
	return REGISTRY_FORM_CRATES;
}

const char *
registry_form_type(enum registry_form f)
{
	switch (f) {
	case REGISTRY_FORM_NPM:
	case REGISTRY_FORM_CRATES_CONFIG:
		return "application/json";
	case REGISTRY_FORM_NPM_SHORT:
		return "application/vnd.npm.install-v1+json";
	case REGISTRY_FORM_PYPI_JSON:
		return "application/vnd.pypi.simple.v1+json";
	case REGISTRY_FORM_PYPI_HTML:
		return "text/html; charset=utf-8";
	case REGISTRY_FORM_PYPI_HTML_V1:
		return "application/vnd.pypi.simple.v1+html; charset=utf-8";
	case REGISTRY_FORM_CRATES:
		break;
	}
	return "text/plain; charset=utf-8";
}

const char *
registry_form_accept(enum registry_form f)
{
	switch (f) {
	case REGISTRY_FORM_NPM:
	case REGISTRY_FORM_NPM_SHORT:
	case REGISTRY_FORM_CRATES_CONFIG:
		return "application/json";
	case REGISTRY_FORM_PYPI_JSON:
	case REGISTRY_FORM_PYPI_HTML:
	case REGISTRY_FORM_PYPI_HTML_V1:
		return "application/vnd.pypi.simple.v1+json";
	case REGISTRY_FORM_CRATES:
		break;
	}
	return "*/*";
}

void
registry_filter_free(struct registry_filter *f)
{
	buf_free(&f->out);
	free(f->entries);
	free(f->rows);
	f->entries = NULL;
	f->rows = NULL;
	f->nentries = f->nrows = 0;
}

static int
filter_run(struct registry_filter *f)
{
	switch (f->form) {
	case REGISTRY_FORM_NPM:
	case REGISTRY_FORM_NPM_SHORT:
		return registry_npm(f);
	case REGISTRY_FORM_PYPI_JSON:
	case REGISTRY_FORM_PYPI_HTML:
	case REGISTRY_FORM_PYPI_HTML_V1:
		return registry_pypi(f);
	case REGISTRY_FORM_CRATES:
		return registry_crates(f);
	case REGISTRY_FORM_CRATES_CONFIG:
		return registry_crates_config(f);
	}
	return -1;
}

int
registry_filter(struct registry_filter *f, struct span text)
{
	int ret = -1;

	f->text = text.len != 0 ? text : SPAN("");
	f->why = NULL;
	f->nentries = f->nrows = f->kept = f->gone = f->nrefused = 0;
	buf_init(&f->out, REGISTRY_MAX_DOC);
	f->entries = calloc(REGISTRY_MAX_ENTRIES, sizeof(*f->entries));
	f->rows = calloc(REGISTRY_MAX_ENTRIES, sizeof(*f->rows));
	if (f->entries == NULL || f->rows == NULL)
		registry_bad(f, "no memory to filter it");
	else if (text.len > REGISTRY_MAX_DOC)
		registry_bad(f, "it is too large");
	else
		ret = filter_run(f);
	if (ret == 0 && (f->out.failed || f->why != NULL))
		ret =
		    registry_bad(f, f->out.no_memory ? "no memory to filter it"
						     : "it is too large");
	free(f->rows);
	f->rows = NULL;
	f->nrows = 0;
	if (ret == -1)
		registry_filter_free(f);
	return ret;
}
