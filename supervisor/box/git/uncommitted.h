/* SPDX-License-Identifier: ISC */
/* Warns of work in the workspace that is in no commit. */
#ifndef UNCOMMITTED_H
#define UNCOMMITTED_H

/*
 * Ask git about the workspace, in a sandbox. The warning comes later, from the
 * event loop; without git, or if anything fails, there is none.
 */
void uncommitted_ask(void);

#endif
