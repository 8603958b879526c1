/* SPDX-License-Identifier: ISC */
/* Paths of icgit in the view of git, which icsupervisor sets up. */
#ifndef ICGIT_PLACE_H
#define ICGIT_PLACE_H

#define ICGIT_DIR "/opt/ironcurtain/git"
#define ICGIT_REAL ICGIT_DIR "/git"
#define ICGIT_PROGRAM ICGIT_DIR "/icgit" /* icgit itself */
/* A variable: files are taken as they are, whatever filters they have. */
#define ICGIT_AS_IS "ICGIT_AS_IS"
#define ICGIT_CONFIG ICGIT_DIR "/config" /* the user's name, if configured */
/* The user's files for all repositories, if there are any. */
#define ICGIT_IGNORE ICGIT_DIR "/ignore"
#define ICGIT_ATTRIBUTES ICGIT_DIR "/attributes"
/* The configuration by which git finds them. */
#define ICGIT_FILES                                                            \
	"[core]\n\texcludesFile = " ICGIT_IGNORE                               \
	"\n\tattributesFile = " ICGIT_ATTRIBUTES "\n"

#endif
