/* SPDX-License-Identifier: ISC */
/*
 * ic-survey looks at the machine for a sandbox, while icsupervisor starts the
 * workers: it copies what may be seen of /etc, and looks through directories
 * that are to be shown. Both programs include this file.
 *
 * ic-survey gets the directories as descriptors from SURVEY_TREE on; its
 * arguments are the ids of the agent's user and group, "links" or "", and the
 * number of directories. With "links" it also looks for links of /usr. It
 * writes reports to its standard output, each a letter, a text and a NUL; the
 * last one is SURVEY_END.
 */
#ifndef SYSTEM_SURVEY_H
#define SYSTEM_SURVEY_H

/* The name of the machine in a sandbox. */
#define SURVEY_HOSTNAME "ironcurtain"
/* Files that a sandbox has of its own. */
#define SURVEY_HOSTS                                                           \
	"127.0.0.1 localhost\n"                                                \
	"127.0.0.1 " SURVEY_HOSTNAME "\n"                                      \
	"::1 localhost ip6-localhost ip6-loopback\n"
#define SURVEY_NSS "passwd: files\ngroup: files\nhosts: files dns\n"

/* The descriptors of ic-survey, beside the standard ones. */
enum {
	SURVEY_STORE = 3,
	SURVEY_ETC,
	SURVEY_USR,
	SURVEY_TREE
};

enum survey_report {
	SURVEY_COPY = 'c',   /* the name of the copy in the store */
	SURVEY_SAID = 's',   /* a line for session.log */
	SURVEY_TOO = 'l',    /* a line for the person: a limit was reached */
	SURVEY_AT = 'a',     /* the number of the directory that follows */
	SURVEY_BAD = 'b',    /* a reason to refuse it: "a socket" */
	SURVEY_BAD_AT = 'p', /* and the path of it, below the directory */
	SURVEY_COVER = 'k',  /* the path of a file that is to be covered */
	SURVEY_VAR = 'v',    /* a path below /var that a link leads to */
	SURVEY_FAILED = 'f', /* the reason for which there is no copy */
	SURVEY_END = '.',
};

/* Names in the store: copies, copies that are being made, and an empty file. */
#define SURVEY_PREFIX "etc-"
#define SURVEY_MAKING ".etc-"
#define SURVEY_EMPTY "empty"

#define SURVEY_MAX_TREES 96U
#define SURVEY_MAX_VAR 200U
#define SURVEY_MAX_COVERS 200U /* in one directory */
#define SURVEY_MAX_ENTRIES 2000000U
#define SURVEY_MAX_REPORT 1048576U /* bytes in all */

#endif
