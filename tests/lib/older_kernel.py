#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""older_kernel.py KIND PROGRAM [ARGUMENT...]: runs a program on a kernel that says
what another one would, by a filter of system calls:
    5.10        has no system call that came later, Landlock among them
    landlock    has Landlock, which is not in its boot parameter lsm=
    userns      makes no user namespaces for ordinary users"""
import ctypes
import errno
import os
import platform
import struct
import sys

ALLOW, ERRNO = 0x7fff0000, 0x00050000
LOAD, EQUAL, AT_LEAST, BITS, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
CLONE_NEWUSER = 0x10000000
# The numbers from 424 on are those of every architecture.
CLONE3, EPOLL_PWAIT2, LANDLOCK = 435, 441, (444, 446)
CLONE, UNSHARE = {"x86_64": (56, 272), "aarch64": (220, 97)}[platform.machine()]


def refuse(number):
    return (RETURN, 0, 0, ERRNO | number)


def rows(kind):
    """Returns the filter: code, steps if true and if false, and a number."""
    nr, allow = (LOAD, 0, 0, 0), (RETURN, 0, 0, ALLOW)
    if kind == "5.10":
        return [nr, (AT_LEAST, 0, 1, EPOLL_PWAIT2), refuse(errno.ENOSYS), allow]
    if kind == "landlock":
        return [nr, (AT_LEAST, 0, 2, LANDLOCK[0]), (AT_LEAST, 1, 0, LANDLOCK[1] + 1),
                refuse(errno.EOPNOTSUPP), allow]
    # The flags of clone3 are in memory, where a filter does not see them; libc
    # then does the same by clone.
    return [nr, (EQUAL, 0, 1, CLONE3), refuse(errno.ENOSYS),
            (EQUAL, 1, 0, CLONE), (EQUAL, 0, 3, UNSHARE),
            (LOAD, 0, 0, 16), (BITS, 0, 1, CLONE_NEWUSER), refuse(errno.EPERM), allow]


def main(kind, *words):
    if kind not in ("5.10", "landlock", "userns"):
        sys.exit(f"older_kernel.py: {kind} is none of its kernels")
    text = b"".join(struct.pack("HBBI", *row) for row in rows(kind))
    code = ctypes.create_string_buffer(text)
    program = struct.pack("HxxxxxxP", len(text) // 8, ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0):
        sys.exit("older_kernel.py: " + os.strerror(ctypes.get_errno()))
    os.execvp(words[0], words)


main(*sys.argv[1:])
