/* SPDX-License-Identifier: ISC */
/* Members of a project's file, and the sentences about them. */
#include "icctl/project/project.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
project_free(struct project *p)
{
	for (size_t i = 0; i < p->nsays; i++)
		free(p->says[i].text);
	p->nsays = 0;
	json_object_put(p->root);
	p->root = NULL;
}

void
project_say(struct project *p, enum project_effect effect, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (p->nsays < PROJECT_MAX_SAYS && vasprintf(&text, fmt, ap) != -1)
		p->says[p->nsays++] = (struct project_says){effect, text};
	va_end(ap);
}

bool
project_has(const struct project *p, enum project_effect effect)
{
	for (size_t i = 0; i < p->nsays; i++)
		if (p->says[i].effect == effect)
			return true;
	return false;
}

json_object *
project_member(const struct project *p, const char *name)
{
	json_object *v = NULL;

	(void)json_object_object_get_ex(p->root, name, &v);
	return v;
}

const char *
project_text(const struct project *p, const char *name)
{
	json_object *v = project_member(p, name);

	return json_object_is_type(v, json_type_string)
		   ? json_object_get_string(v)
		   : NULL;
}
