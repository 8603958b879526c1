#!/usr/bin/python3 -I
# SPDX-License-Identifier: ISC
"""In place of systemctl --user: records each command line and environment in
~/systemctl.jsonl, and starts the unit's program as a manager would, with an
environment and a notification socket of its own.  ~/systemctl.json says which
icsupervisor, which environment, and what goes wrong.  ./dev test systemd tests a
real manager."""
import json
import os
import signal
import socket
import subprocess
import sys
import time

HOME = os.environ["HOME"]


def path(name):
    return os.path.join(HOME, name)


def units():
    try:
        with open(path("units.json"), encoding="utf-8") as f:
            return json.load(f)
    except FileNotFoundError:
        return {}


def keep(unit, state):
    with open(path("units.json.new"), "w", encoding="utf-8") as f:
        json.dump({**units(), unit: state}, f)
    os.rename(path("units.json.new"), path("units.json"))


def start(setting, unit):
    at = path("notify")
    if os.path.exists(at):
        os.unlink(at)
    notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    notify.bind(at)
    notify.settimeout(0.05)
    name = unit[len("icsupervisor@"):-len(".service")]
    argv = setting.get("argv") or [setting["program"], "--unit=" + name]
    with open(path("journal"), "ab") as journal:
        p = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=journal,
                             stderr=journal, start_new_session=True,
                             env={**setting["env"], "NOTIFY_SOCKET": at})
    state = {"MainPID": p.pid, "StatusText": "", "Result": "success",
             "ExecMainStatus": 0}
    while True:
        try:
            text = notify.recv(8192).decode()
        except socket.timeout:
            text = ""
            if p.poll() is not None:
                break
        for line in text.splitlines():
            if line.startswith("STATUS="):
                state["StatusText"] = line[7:]
        if setting.get("argv") or "READY=1" in text.splitlines():
            keep(unit, state)
            return 0
    state.update(MainPID=0, Result="exit-code", ExecMainStatus=p.returncode)
    keep(unit, state)
    print("Job for " + unit + " failed because the control process exited with "
          "error code.", file=sys.stderr)
    return 1


def stop(unit):
    pid = units()[unit]["MainPID"]
    try:
        os.kill(pid, signal.SIGTERM)
        while os.path.exists(f"/proc/{pid}/ns"):
            time.sleep(0.02)
    except ProcessLookupError:
        pass
    return 0


def main():
    with open(path("systemctl.jsonl"), "a", encoding="utf-8") as f:
        f.write(json.dumps({"args": sys.argv[1:],
                            "env": dict(os.environ)}) + "\n")
    with open(path("systemctl.json"), encoding="utf-8") as f:
        setting = json.load(f)
    args = [a for a in sys.argv[1:] if a not in ("--user", "--no-pager")]
    if "fails" in setting:
        print(setting["fails"], file=sys.stderr)
        return 1
    if args[0] == "show-environment":
        for name, value in setting["env"].items():
            print(f"{name}={value}")
        return 0
    unit = args[-1]
    if args[0] == "show":
        have = {"LoadState": setting.get("load", "loaded"),
                **units().get(unit, {})}
        for option, name in zip(args, args[1:]):
            if option == "-p" and name in have:
                print(f"{name}={have[name]}")
        return 0
    if args[0] == "start":
        return start(setting, unit)
    return stop(unit) if args[0] == "stop" else 0


sys.exit(main())
