/* SPDX-License-Identifier: ISC */
/*
 * `icctl doctor` about browsers. Chromium and its like confine their pages with
 * namespaces, which a session's sandbox does not give: it is the sandbox of its
 * browsers, too, and they have to be told. Debian's launcher reads the option
 * from a directory in /etc, of which sandboxes have a copy with one more file.
 */
#include "icctl/doctor/doctor.h"

#include <sys/stat.h>

#include <stdio.h>

#include "box/clients/table.h"

void
doctor_browsers(doctor_check *check)
{
	static const char *const others[] = {"google-chrome", "chrome",
	    "brave-browser", "microsoft-edge", "chromium-browser"};
	struct stat st;
	char text[160];

	if (doctor_has("chromium") &&
	    stat("/etc/" CLIENTS_CHROMIUM_D, &st) == 0 && S_ISDIR(st.st_mode))
		check(GOOD, "browser",
		    "chromium: agents run it headless; the session's sandbox "
		    "takes the place of its own",
		    "");
	else if (doctor_has("chromium"))
		check(NOTE, "browser", "chromium",
		    "agents start it with --headless --no-sandbox: the "
		    "session's sandbox takes the place of its own");
	for (size_t i = 0; i < nitems(others); i++) {
		if (!doctor_has(others[i]))
			continue;
		snprintf(text, sizeof(text), "%s", others[i]);
		check(NOTE, "browser", text,
		    "agents start it with --headless --no-sandbox: the "
		    "session's sandbox takes the place of its own");
	}
	if (doctor_has("firefox") || doctor_has("firefox-esr"))
		check(GOOD, "browser",
		    "firefox: agents run it headless, with the session's proxy "
		    "and CA",
		    "");
}
