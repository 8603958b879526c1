/* SPDX-License-Identifier: ISC */
/* The name of a policy, by the path of its rules. */
#include "icctl/icctl.h"

#include <string.h>

const char *
icctl_policy_name(const char *path, char dst[ICCTL_POLICY])
{
	static const char dir[] = "/policies/";
	const char *last = strrchr(path, '/'), *name = NULL;
	size_t len;

	dst[0] = '\0';
	for (const char *p = path; (p = strstr(p, dir)) != NULL; p++)
		name = p + sizeof(dir) - 1;
	if (name == NULL || last == NULL)
		return dst;
	/* The shipped one is there itself. */
	if (last == name - 1) {
		(void)strlcpy(dst, "default", ICCTL_POLICY);
	} else if (last > name &&
		   memchr(name, '/', (size_t)(last - name)) == NULL &&
		   (len = (size_t)(last - name)) < ICCTL_POLICY) {
		memcpy(dst, name, len);
		dst[len] = '\0';
	}
	return dst;
}
