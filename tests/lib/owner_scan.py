# SPDX-License-Identifier: ISC
"""Looks for secrets in the memory of processes that nobody may trace, without
root: the owner of a user namespace has every right over the processes in it. A
helper stays outside of the namespace that public_net.enter() makes; the test
inside asks it over a socket. It reads with process_vm_readv(2), because
/proc/PID/mem of such a process belongs to another user."""
import base64
import ctypes
import json
import os
import re
import signal
import socket
import sys
import tempfile

import public_net

MARK = "IC_TEST_OWNER_SCAN"
STEP = 4 << 20
PAGE = os.sysconf("SC_PAGE_SIZE")
HEAD = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ \S+\s*(.*)")
libc = ctypes.CDLL(None, use_errno=True)


class Part(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]


def start():
    """Start the helper, before public_net.enter()."""
    if os.environ.get(public_net.MARK):
        return
    path = os.path.join(tempfile.mkdtemp(prefix="ic-scan-"), "socket")
    s = socket.socket(socket.AF_UNIX)
    s.bind(path)
    s.listen(8)
    os.environ[MARK] = path
    parent = os.getpid()
    if os.fork() != 0:
        s.close()
        return
    libc.prctl(1, signal.SIGKILL, 0, 0, 0)     # PR_SET_PDEATHSIG
    while os.getppid() == parent:
        c, _ = s.accept()
        with c, c.makefile("rw", encoding="utf-8") as f:
            ask = json.loads(f.readline())
            f.write(json.dumps([look(p, [bytes.fromhex(n) for n in
                                         ask["needles"]])
                                for p in ask["pids"]]) + "\n")
    os._exit(0)


def end():
    """Remove its socket, inside, when no more is asked."""
    os.unlink(os.environ[MARK])
    os.rmdir(os.path.dirname(os.environ[MARK]))


def mappings(pid):
    """Yields start, end and name of each mapping that has pages."""
    with open(f"/proc/{pid}/smaps", encoding="ascii", errors="replace") as f:
        at = None
        for line in f:
            m = HEAD.fullmatch(line.rstrip("\n"))
            if m:
                at = (int(m[1], 16), int(m[2], 16), m[4] or "anonymous")
                if m[3][0] != "r" or "[v" in m[4]:
                    at = None
                elif "secretmem" in m[4]:
                    yield at
                    at = None
            elif at and line.startswith(("Rss:", "Swap:")) and \
                    line.split()[1] != "0":
                yield at
                at = None


def read(pid, at, size, buffer):
    """Returns the bytes there, or None if they cannot be read."""
    mine, theirs = Part(ctypes.addressof(buffer), size), Part(at, size)
    n = libc.process_vm_readv(pid, ctypes.byref(mine), ctypes.c_ulong(1),
                              ctypes.byref(theirs), ctypes.c_ulong(1),
                              ctypes.c_ulong(0))
    return bytes(memoryview(buffer)[:n]) if n > 0 else None


def search(pid, low, high, needles, buffer):
    """Returns the indices of needles that are there, and how many bytes of the
    mapping could be read."""
    found, rest, seen = set(), b"", 0
    while low < high:
        part = read(pid, low, min(high - low, STEP), buffer)
        if part is None:        # one page cannot be read
            rest = b""
            low += PAGE
            if seen == 0:
                break
            continue
        text = rest + part
        found.update(i for i, n in enumerate(needles) if n in text)
        rest = text[-256:]
        seen += len(part)
        low += len(part)
    return found, seen


def look(pid, needles):
    """Returns what was found in one process, where, and what could not be
    read."""
    out = {"pid": pid, "name": "", "found": [], "hidden": [], "bytes": 0}
    buffer = ctypes.create_string_buffer(STEP)
    try:
        with open(f"/proc/{pid}/comm", encoding="ascii") as f:
            out["name"] = f.read().strip()
        for low, high, name in mappings(pid):
            found, seen = search(pid, low, high, needles, buffer)
            out["found"] += [[i, name] for i in sorted(found)]
            out["bytes"] += seen
            if seen == 0:
                out["hidden"].append(name)
    except OSError as e:
        out["error"] = str(e)
    return out


def forms(secret):
    """Returns the end of a secret in the forms in which it may lie there."""
    raw = secret.encode()[-24:]
    out = [raw, raw.hex().encode(), raw.hex().upper().encode()]
    for skip in range(3):
        whole = base64.b64encode(raw[skip:])
        out.append(whole[:len(whole) // 4 * 4 - 8])
    return out


def scan(pids, secrets):
    """secrets: name -> text. Returns a list of the processes, each with
    `found`: a set of (name of the secret, mapping)."""
    needles = [(k, n) for k, v in secrets.items() for n in forms(v)]
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(os.environ[MARK])
        with s.makefile("rw", encoding="utf-8") as f:
            f.write(json.dumps({"pids": pids, "needles": [
                n.hex() for _, n in needles]}) + "\n")
            f.flush()
            rows = json.loads(f.readline())
    for r in rows:
        r["found"] = sorted({(needles[i][0], at) for i, at in r["found"]})
    return rows


def refuse_secret_memory():
    """From now on memfd_secret(2) fails in this thread and the processes that
    it starts, as on a kernel without it."""
    code = [(0x20, 0, 0, 0), (0x15, 0, 1, 447), (0x06, 0, 0, 0x50000 | 38),
            (0x06, 0, 0, 0x7fff0000)]

    class Filter(ctypes.Structure):
        _fields_ = [("code", ctypes.c_ushort), ("jt", ctypes.c_ubyte),
                    ("jf", ctypes.c_ubyte), ("k", ctypes.c_uint)]

    class Program(ctypes.Structure):
        _fields_ = [("len", ctypes.c_ushort), ("at", ctypes.POINTER(Filter))]

    rows = (Filter * len(code))(*code)
    program = Program(len(code), rows)
    if libc.prctl(38, 1, 0, 0, 0) != 0 or \
            libc.prctl(22, 2, ctypes.byref(program), 0, 0) != 0:
        sys.exit("no seccomp filter here")
