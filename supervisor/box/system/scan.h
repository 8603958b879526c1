/* SPDX-License-Identifier: ISC */
/*
 * ic-scan tells icsupervisor at the start what a person should know of files
 * that others wrote: secrets in the workspace, settings of the agent that it
 * does not have here, and programs in PATH that it does not see. Both programs
 * include this file. Reports (base/report.h) on ic-scan's standard input say
 * what to do; those on its standard output are lines for the person.
 */
#ifndef SYSTEM_SCAN_H
#define SYSTEM_SCAN_H

#define SCAN_PROGRAM "ic-scan"
#define SCAN_JOB 262144U /* bytes of all that it is told */

/* The descriptors of ic-scan, beside the standard ones. */
enum {
	SCAN_WORKSPACE = 3,
	SCAN_HOME /* the user's */
};

/* Given to ic-scan. */
enum scan_told {
	SCAN_HAS = 'd',     /* "workspace" or "home": there is a descriptor */
	SCAN_SECRETS = 's', /* look for secrets in the workspace */
	SCAN_AGENT = 'a',   /* the agent, as people call it */
	SCAN_LEFT = 'l',    /* an entry of the agent's "leftOut" */
	SCAN_COVER = 'c',   /* a file that the sandbox has empty */
	SCAN_SERVER = 'n',  /* the name of an MCP server of the session */
	SCAN_USER = 'u',    /* the path of the home: look at PATH */
	SCAN_MANAGER = 'm', /* a variable of a manager of toolchains */
	SCAN_UNSEEN = 'p',  /* a directory of PATH that the sandbox lacks */
	SCAN_REAL = 'r',    /* the same, without links */
	SCAN_SEEN = 'q',    /* another one of the home, without links */
	SCAN_SHOWN = 'v',   /* a place that the sandbox sees */
	SCAN_REFUSED = 'x', /* one that agentView refuses, with what it meets */
};

/* Handed back. */
enum scan_report {
	SCAN_WARN = 'W', /* a line for the person */
};

/* Have ic-scan look, and say what it found. */
void scan_say(void);
/* Have it look at PATH; the job names the directories. */
struct buf;
void scan_path(struct buf *job);

#endif
