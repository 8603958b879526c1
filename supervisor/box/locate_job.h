/* SPDX-License-Identifier: ISC */
/*
 * The job that icsupervisor gives ic-locate, and its reports (base/report.h).
 * It finds programs in the user's directories: it can read everything, and can
 * neither write, execute nor connect.
 */
#ifndef LOCATE_JOB_H
#define LOCATE_JOB_H

#define LOCATE_PROGRAM_NAME "ic-locate"
#define LOCATE_JOB (4U << 20) /* bytes of all that it is told */
#define LOCATE_MAX_WORDS 4200U
#define LOCATE_MS 20000U

enum locate_report {
	/* to it: where it looks, and then each program with its arguments */
	LOCATE_HOME = 'h',    /* the user's */
	LOCATE_BIN = 'b',     /* the directory of our own programs */
	LOCATE_ENV = 'e',     /* PATH */
	LOCATE_BASE = 'd',    /* the directory of relative names */
	LOCATE_COMMAND = 'c', /* begins a program: a command */
	LOCATE_FILE = 'f',    /* likewise, but a file or a name in PATH */
	LOCATE_ARG = 'a',
	/* from it, for one program after the other */
	LOCATE_PATH = 'P',
	LOCATE_WORD = 'W', /* a word of argv[] */
	LOCATE_TREE = 'T',
	LOCATE_OURS = 'O',
	LOCATE_CODE = 'I', /* "DIGEST NAME VERSION" of its code, if known */
	LOCATE_FOUND = 'G', /* ends the program */
	LOCATE_WHY = 'F',   /* ends it, too: why it was not found */
};

#endif
