# SPDX-License-Identifier: ISC
"""Looks for a secret where it must not be: in the memory of processes, in the
files below a directory."""
import os
import re


def children(pid):
    """Returns all descendants, from the parents' own lists."""
    found = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children",
                      encoding="ascii") as f:
                for c in map(int, f.read().split()):
                    found += [c] + children(c)
    except OSError:
        pass
    return found


def open_processes(pid):
    """Returns the descendants whose memory this user may read."""
    found = []
    for p in children(pid):
        try:
            with open(f"/proc/{p}/mem", "rb"):
                found.append(p)
        except OSError:
            pass
    return found


def memory_has(pid, needle):
    """Returns whether the process has the secret in memory, environment or
    command line."""
    found = []
    for name in ("environ", "cmdline"):
        with open(f"/proc/{pid}/{name}", "rb") as f:
            if needle in f.read():
                found.append(name)
    for low, high, name in resident(pid):
        if any_has(pid, low, high, needle):
            found.append(name)
    return found


def resident(pid):
    """Returns the runs of readable pages of each mapping that are in memory.
    """
    page = os.sysconf("SC_PAGE_SIZE")
    with open(f"/proc/{pid}/maps", encoding="ascii", errors="replace") as f:
        maps = f.read().splitlines()
    with open(f"/proc/{pid}/pagemap", "rb", 0) as pages:
        for line in maps:
            low, high, mode = re.match(r"(\w+)-(\w+) (\S+)", line).groups()
            low, high = int(low, 16), int(high, 16)
            if mode[0] != "r" or "[v" in line:
                continue
            at = low
            while at < high:
                count = min((high - at) // page, 1 << 17)
                pages.seek(at // page * 8)
                there = pages.read(count * 8)
                for m in re.finditer(rb"\xff+", bytes(
                        0xff if b & 0xc0 else 0 for b in there[7::8])):
                    yield (at + m.start() * page, at + m.end() * page,
                           line.split()[-1])
                at += count * page


def any_has(pid, low, high, needle):
    with open(f"/proc/{pid}/mem", "rb", 0) as mem:
        rest = b""
        while low < high:
            try:
                mem.seek(low)
                part = mem.read(min(high - low, 1 << 24))
            except (OSError, ValueError, OverflowError):
                return False
            if not part:
                return False
            if needle in rest + part:
                return True
            rest = part[-len(needle):]
            low += len(part)
    return False


def files_have(top, needle):
    found = []
    for where, _, names in os.walk(top):
        for name in names:
            path = os.path.join(where, name)
            if os.path.islink(path) or not os.path.isfile(path):
                continue
            with open(path, "rb") as f:
                if needle in f.read():
                    found.append(path)
    return found
