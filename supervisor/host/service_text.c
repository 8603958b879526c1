/* SPDX-License-Identifier: ISC */
/* Texts for people about a service. */
#include "host/service_look.h"

#include <pwd.h>
#include <stdio.h>

const char *
service_user(int64_t uid, char text[SERVICE_USER])
{
	const struct passwd *pw = getpwuid((uid_t)uid);

	if (pw != NULL)
		snprintf(text, SERVICE_USER, "user %.64s (%lld)", pw->pw_name,
		    (long long)uid);
	else
		snprintf(text, SERVICE_USER, "user %lld", (long long)uid);
	return text;
}

const char *
service_whose(const struct service_seen *seen, char text[SERVICE_WHOSE])
{
	const char *what =
	    seen->program[0] != '\0' ? seen->program : "a program";
	char user[SERVICE_USER];

	if (seen->kind != NULL)
		what = seen->kind;
	if (!seen->local)
		snprintf(text, SERVICE_WHOSE, "%s on another machine",
		    seen->kind != NULL ? seen->kind : "a service");
	else if (!seen->listens)
		snprintf(
		    text, SERVICE_WHOSE, "nothing listened there at the start");
	else
		snprintf(text, SERVICE_WHOSE, "%s, run by %s", what,
		    service_user(seen->uid, user));
	return text;
}
