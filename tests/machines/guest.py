#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Runs inside a machine, as root: runs the tests as an ordinary user, reports
each in one line on the console, and then switches the machine off."""
import concurrent.futures
import ctypes
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import threading
import time

TOP = sys.argv[1]
with open(os.path.join(TOP, "job.json")) as f:
    JOB = json.load(f)
PREFIX = os.path.join(JOB["build"], "stage/usr/local")
ENV = {"HOME": "/home/tester", "LANG": "C.UTF-8", "TERM": "dumb",
       "PATH": PREFIX + "/bin:/usr/bin:/bin", "IC_PREFIX": PREFIX,
       "IC_BUILD": JOB["build"], "IC_AGENTS": "/nonexistent",
       "IC_PATIENCE": str(JOB["factor"])}
LOCK = threading.Lock()
COUNTS = {"ok": 0, "not ok": 0, "skip": 0}
AGAIN = []
CONSOLE = os.open("/dev/console", os.O_WRONLY | os.O_NOCTTY)


def report(kind, text):
    with LOCK:
        if kind in COUNTS:
            COUNTS[kind] += 1
        data = f"LANE {kind} {text}\n".encode("utf-8", "backslashreplace")
        while data:
            data = data[os.write(CONSOLE, data):]


def wanted(name):
    return not JOB["only"] or name in JOB["only"]


def attempt(cmd, limit, env):
    """Runs cmd as the tester. Returns its status, or None if it took too long,
    and its output."""
    uid = str(JOB["uid"])
    p = subprocess.Popen(
        ["setpriv", "--reuid", uid, "--regid", uid, "--clear-groups",
         "--inh-caps=-all"] + cmd, env={**ENV, **env}, cwd=JOB["build"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, start_new_session=True)
    try:
        out = p.communicate(timeout=limit)[0]
        return p.returncode, out.decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, 9)
        return None, p.communicate()[0].decode("utf-8", "replace")


def as_user(name, cmd, limit, env={}, check=None, last=False):
    """Reports cmd as ok if it succeeded in time, none of its TAP lines failed
    and `check` finds nothing wrong. A failed one is run again alone at the
    end, to tell a slow machine from a broken program."""
    limit *= JOB["factor"]
    began = time.monotonic()
    status, out = attempt(cmd, limit, env)
    bad = re.findall(r"(?m)^not ok .*", out)
    why = "took more than %d seconds" % limit if status is None else \
        "ended with %d" % status if status not in (0, 77) else \
        "%d checks failed" % len(bad) if bad else check and check(out)
    took = "%.1f s" % (time.monotonic() - began)
    if why:
        for line in bad + out.splitlines()[-40:]:
            report("|", line)
        if last:
            report("not ok", f"{JOB['arch']} {name}: {why} ({took})")
            return
        report("#", f"once more at the end: {name}: {why} ({took})")
        AGAIN.append((name, cmd, limit // JOB["factor"], env, check))
    elif status == 77 or re.match(r"1\.\.0 # [Ss][Kk][Ii][Pp]", out):
        report("skip", f"{JOB['arch']} {name}")
    else:
        good = len(re.findall(r"(?m)^ok ", out))
        report("ok", f"{JOB['arch']} {name} ({good} checks, {took})")


def verify(name, good, why):
    report("ok" if good else "not ok",
           f"{JOB['arch']} {name}" + ("" if good else ": " + why))


def first_lines():
    with open("/proc/1/comm") as f:
        comm = f.read().strip()
    with open("/sys/kernel/security/lsm") as f:
        lsm = f.read().strip()
    abi = ctypes.CDLL(None).syscall(444, None, ctypes.c_size_t(0), 1)
    report("#", f"{platform.machine()} {platform.release()}, process 1 is "
           f"{comm}, lsm {lsm}, Landlock ABI {abi}")
    verify("systemd is process 1", comm == "systemd", comm)
    verify("Landlock is there", abi >= 1, "no Landlock")


def set_file(name, text):
    with open(name, "w") as f:
        f.write(text)


def bti():
    """A name service module that is marked for BTI: dialerd's resolver, which
    loads it behind its filter, answers through it."""
    lib = "/usr/lib/aarch64-linux-gnu/libnss_icbti.so.2"
    shutil.copy(os.path.join(JOB["build"], "libnss_icbti.so.2"), lib)
    with open("/proc/cpuinfo") as f:
        verify("the processor has BTI", re.search(r"\bbti\b", f.read()),
               "it has not")
    ctypes.CDLL(lib)
    with open("/proc/self/smaps") as f:
        flags = re.search(r"r-xp [^\n]*libnss_icbti(?:.|\n)*?VmFlags:(.*)",
                          f.read())
    verify("the module is mapped with it", flags and " bt" in flags[1],
           str(flags and flags[1]))
    set_file("/etc/hosts", "")
    set_file("/etc/nsswitch.conf", "hosts: files\n")
    verify("localhost has no other source", subprocess.run(
        ["getent", "ahostsv4", "localhost"], capture_output=True).returncode,
        "files know it")
    set_file("/etc/nsswitch.conf", "hosts: icbti files\n")
    for t in JOB["tests"]:
        if t["name"] == "dialerd_process":
            as_user("dialerd_process with a module marked for BTI", t["cmd"],
                    t["timeout"], last=True)
    set_file("/etc/hosts", "127.0.0.1 localhost\n::1 localhost\n")
    set_file("/etc/nsswitch.conf", "hosts: files dns\n")


def cgroups():
    """Sessions with control groups of version 2, which need root to begin."""
    r = subprocess.run(
        [sys.executable, "-B", TOP + "/tests/machines/cgroups.py",
         str(JOB["uid"])], env={**os.environ, **ENV}, capture_output=True,
        text=True, timeout=600)
    bad = re.findall(r"(?m)^not ok .*", r.stdout)
    if r.returncode or bad:
        for line in (r.stdout + r.stderr).splitlines()[-80:]:
            report("|", line)
    verify("cgroups (%d checks)" % len(re.findall(r"(?m)^ok ", r.stdout)),
           r.returncode == 0 and not bad, "ended with %d" % r.returncode)


def main():
    began = time.monotonic()
    subprocess.run(["depmod", "-a"], check=False)
    uid = JOB["uid"]
    os.chown("/home/tester", uid, uid)
    first_lines()
    if wanted("doctor"):
        as_user("icctl doctor", ["icctl", "doctor"], 30,
                check=lambda out: None if "Sessions can run here" in out
                else "sessions cannot run")
    if wanted("demo"):
        as_user("demo", ["python3", "-B", TOP + "/tests/e2e/demo.py",
                         "--prefix", PREFIX], 120)
    if wanted("cgroups"):
        cgroups()
    if JOB["arch"] == "arm64" and wanted("bti"):
        bti()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for t in sorted(JOB["tests"], key=lambda t: -t["timeout"]):
            if wanted(t["name"]):
                pool.submit(as_user, t["name"], t["cmd"], t["timeout"],
                            t["env"])
    for again in AGAIN:
        as_user(*again, last=True)
    report("#", "%.0f seconds" % (time.monotonic() - began))
    report("end", "{ok} {not ok} {skip}".format_map(COUNTS))


try:
    main()
except Exception as e:  # noqa: B902 - report it on the console, then end
    report("#", repr(e))
finally:
    subprocess.run(["systemctl", "poweroff", "-ff"], check=False)
