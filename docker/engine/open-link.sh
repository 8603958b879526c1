#!/bin/sh
# SPDX-License-Identifier: ISC
# Stands in a sandbox in the place of xdg-open. It hands one address to the
# terminal of the session, where the user sees it and may open it outside.
for a; do url=$a; done
case ${url-} in
https://*|http://localhost[:/]*|http://127.0.0.1[:/]*) ;;
*)
    echo "${0##*/}: only web addresses can be opened from this sandbox, by the user: https://HOST/..." >&2
    exit 3 ;;
esac
if (printf '\033]7770;%s\033\\' "$url" >/dev/tty) 2>/dev/null; then
    exit 0
fi
echo "${0##*/}: this sandbox has no browser, and no terminal here asks the user: tell the user the address instead. Do not retry." >&2
exit 3
