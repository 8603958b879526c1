/* SPDX-License-Identifier: ISC */
/* Composes the call of StartTransientUnit, in the types of busctl(1). */
#include "box/cgroup/scope.h"
#include "common/wordlist.h"

#include <stdio.h>
#include <string.h>

/* Copy letters, digits, - and _; others would need systemd's escapes. */
static void
scope_id(char *dst, size_t cap, const char *id)
{
	size_t n = 0;

	for (; *id != '\0' && n + 1 < cap; id++)
		dst[n++] = strspn(id, "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-_") != 0
			       ? *id
			       : '_';
	dst[n] = '\0';
}

int
scope_compose(struct scope_call *c, const char *id, pid_t pid)
{
	char plain[64];
	const char *const words[] = {"busctl", "--user", "--quiet",
	    "--timeout=3", "call", "org.freedesktop.systemd1",
	    "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager",
	    "StartTransientUnit", "ssa(sv)a(sa(sv))",
	    /* its name, and that no other unit of that name is replaced */
	    c->name, "fail",
	    /* four properties, each a name, a type and a value */
	    "4", "Description", "s", c->about, "PIDs", "au", "1", c->pid,
	    "Delegate", "b", "true", "CollectMode", "s", "inactive-or-failed",
	    /* no other units */
	    "0", NULL};
	struct wordlist list = WORDLIST_IN(c->words);

	scope_id(plain, sizeof(plain), id);
	snprintf(c->name, sizeof(c->name), "ironcurtain-%s.scope", plain);
	snprintf(
	    c->about, sizeof(c->about), "IronCurtain session %s", plain);
	snprintf(c->pid, sizeof(c->pid), "%d", (int)pid);
	wordlist_all(&list, words);
	return wordlist_end(&list) == NULL ? -1 : 0;
}
