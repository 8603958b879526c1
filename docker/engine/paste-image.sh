#!/bin/sh
# SPDX-License-Identifier: ISC
# Stands in a sandbox in the place of xclip and wl-paste, which agents run to
# read the clipboard. It gives the image that the user has pasted into the
# session within the last minute, and nothing else.
inbox=/run/ironcurtain/inbox
type= list=
case ${0##*/} in
wl-paste) out=1 ;;
*) out= ;;
esac
while [ $# -gt 0 ]; do
    case $1 in
    -o|-out) out=1 ;;
    -l|--list-types) list=1 ;;
    -t|-target|--type) type=${2-}; [ $# -gt 1 ] && shift ;;
    --type=*) type=${1#--type=} ;;
    -selection|-sel) [ $# -gt 1 ] && shift ;;
    esac
    shift
done
[ "$type" = TARGETS ] && list=1
if [ -z "$out" ]; then
    echo "${0##*/}: this sandbox has no clipboard to write. What an agent writes to its terminal as OSC 52 is offered to the user." >&2
    exit 1
fi
newest=$(find "$inbox" -type f -mmin -1 2>/dev/null | sort -t / -k 5 -n | tail -n 1)
case $newest in
*.png) is=image/png ;;
*.jpg) is=image/jpeg ;;
*.gif) is=image/gif ;;
*.webp) is=image/webp ;;
*) is= ;;
esac
if [ -z "$is" ]; then
    echo "${0##*/}: no image was pasted within the last minute. The user pastes one with: icctl paste" >&2
    exit 1
fi
if [ -n "$list" ]; then
    echo "$is"
elif [ "$type" = "$is" ] || [ "$type" = image ]; then
    exec cat "$newest"
else
    echo "${0##*/}: the image that the user pasted is $is" >&2
    exit 1
fi
