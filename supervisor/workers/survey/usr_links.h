/* SPDX-License-Identifier: ISC */
/*
 * Finds the links of /usr and /etc that lead to /var, where packages keep parts
 * of their programs, such as the compiler's list of libraries.
 */
#ifndef SURVEY_USR_LINKS_H
#define SURVEY_USR_LINKS_H

/*
 * Look through the directory `fd`, whose path is `top`, and call `found` with
 * each path below /var that a link leads to. A path can come more than once.
 */
void usr_links(int fd, const char *top, void (*found)(const char *path));

#endif
