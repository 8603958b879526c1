/* SPDX-License-Identifier: ISC */
/* The names of the layers in force, for messages and records. */
#include "common/confine/confine.h"

#include <stdio.h>
#include <string.h>

#include "common/span.h"

static const struct {
	uint32_t flag;
	const char *name;
} flag_names[] = {
    {CONFINE_DUMPABLE0, "dumpable=0"},
    {CONFINE_NNP, "nnp"},
    {CONFINE_SECCOMP, "seccomp"},
    {CONFINE_LANDLOCK, "landlock"},
    {CONFINE_USERNS, "userns"},
    {CONFINE_NETNS, "netns"},
    {CONFINE_IPCNS, "ipcns"},
    {CONFINE_UTSNS, "utsns"},
    {CONFINE_ROOT, "root"},
    {CONFINE_CAPS0, "caps0"},
    {CONFINE_SECRETMEM, "secretmem"},
};

const char *
confine_describe(const struct confine_state *st, char *dst, size_t cap)
{
	char abi[16] = "";
	size_t len = 0;
	int n;

	if (cap != 0)
		dst[0] = '\0';
	for (size_t i = 0; i < nitems(flag_names); i++) {
		if (!(st->flags & flag_names[i].flag))
			continue;
		if (flag_names[i].flag == CONFINE_LANDLOCK)
			(void)snprintf(
			    abi, sizeof(abi), ":%u", st->landlock_abi);
		else
			abi[0] = '\0';
		n = snprintf(dst + len, cap - len, "%s%s%s",
		    len == 0 ? "" : " ", flag_names[i].name, abi);
		if (n < 0 || (size_t)n >= cap - len)
			break;
		len += (size_t)n;
	}
	return dst;
}

const char *
confine_names(uint32_t flags, char *dst, size_t cap)
{
	size_t len = 0;
	int n;

	if (cap != 0)
		dst[0] = '\0';
	for (size_t i = 0; i < nitems(flag_names); i++) {
		if (!(flags & flag_names[i].flag))
			continue;
		n = snprintf(dst + len, cap - len, "%s%s", len == 0 ? "" : " ",
		    flag_names[i].name);
		if (n < 0 || (size_t)n >= cap - len)
			break;
		len += (size_t)n;
	}
	return dst;
}

uint32_t
confine_flag_of(const char *name, size_t len)
{
	for (size_t i = 0; i < nitems(flag_names); i++)
		if (strlen(flag_names[i].name) == len &&
		    strncmp(flag_names[i].name, name, len) == 0)
			return flag_names[i].flag;
	return 0;
}
