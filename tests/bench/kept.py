# SPDX-License-Identifier: ISC
"""The last figures of each kind of processor. The ratios depend on it: what it
costs to wake the other one, or to make namespaces, differs from kind to kind. A
file of each kind has, for each ratio, its last value and when and under which
load it was measured."""
import json
import os
import re
import time


def processor():
    """Returns the name of this machine's processor and how many there are."""
    name = os.uname().machine
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as f:
        for line in f:
            if line.startswith("model name"):
                name = line.split(":", 1)[1].strip()
                break
    return f"{name}, {os.cpu_count()} processors"


def path(directory, kind):
    slug = re.sub("[^a-z0-9]+", "-", kind.lower()).strip("-")
    return os.path.join(directory, slug + ".json")


def read(name):
    try:
        with open(name, encoding="utf-8") as f:
            return json.load(f)
    except (OSError, ValueError):
        return {}


def keep(directory, values):
    """Replace the figures of this kind that `values` has: name -> ratio."""
    kind = processor()
    name = path(directory, kind)
    kept = read(name) or {"processor": kind, "ratios": {}}
    now = {"at": time.strftime("%Y-%m-%d"),
           "load": round(os.getloadavg()[0], 1)}
    for k, v in values.items():
        kept["ratios"][k] = {"value": round(v, 3), **now}
    os.makedirs(directory, exist_ok=True)
    with open(name + ".new", "w", encoding="utf-8") as f:
        json.dump(kept, f, indent=1)
    os.replace(name + ".new", name)


def others(directory, names):
    """Returns lines with the last figures of other kinds, of these ratios."""
    lines = []
    found = sorted(os.listdir(directory)) if os.path.isdir(directory) else []
    for entry in found:
        kept = read(os.path.join(directory, entry))
        ratios = {n: kept["ratios"][n] for n in names
                  if n in kept.get("ratios", {})}
        if not ratios or kept["processor"] == processor():
            continue
        lines += ["", f"The last figures on {kept['processor']}:"]
        lines += [f"{n:58}{r['value']:>8.2f}  {r['at']}, load {r['load']}"
                  for n, r in ratios.items()]
    return lines
