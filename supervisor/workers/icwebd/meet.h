/* SPDX-License-Identifier: ISC */
/*
 * Files of `icctl web` in IRONCURTAIN_HOME: the socket at which another one
 * asks it for a link, and the page's address, for links to a call.
 */
#ifndef WEB_MEET_H
#define WEB_MEET_H

#define WEB_DIR "web"
#define WEB_MEET WEB_DIR "/page.sock"
#define WEB_ADDRESS WEB_DIR "/address"

#endif
