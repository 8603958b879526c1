/* SPDX-License-Identifier: ISC */
/*
 * Signs the approval of a pending call from a screen of icctl: `icctl sign`
 * runs on the terminal, shows the call and asks.
 */
#ifndef ICCTL_HOLD_SIGN_H
#define ICCTL_HOLD_SIGN_H

#include <json-c/json.h>
#include <stdbool.h>

#include "base/signed.h"

/*
 * Have the person sign this call, on the terminal, which must read lines.
 * Returns true with the signature, or false after it said why there is none.
 */
bool hold_sign(json_object *hold, char entries[SIGNED_ENTRIES + 1]);

#endif
