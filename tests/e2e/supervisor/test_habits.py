#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Programs of a sandbox print what they print outside: the user's time zone,
language, colours, umask, editor and pager, as far as the sandbox has them."""
import json
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from started import Place  # noqa: E402

t = h.Tap()
SHOW = "import json, os; print(json.dumps(dict(os.environ)))"
USER = {
    "TZ": "Asia/Tokyo", "LANG": "de_DE.UTF-8", "LC_TIME": "C",
    "LC_NUMERIC": "de_DE.UTF-8", "LANGUAGE": "de:en", "NO_COLOR": "1",
    "CLICOLOR_FORCE": "1", "COLORFGBG": "15;0", "LS_COLORS": "di=01;34:ln=36",
    "GCC_COLORS": "error=01;31:quote=01", "JQ_COLORS": "0;90:0;39",
    "LSCOLORS": "ExFxBxDxCx", "CARGO_TERM_COLOR": "always", "PY_COLORS": "1",
    "LESS": "-FRX", "PAGER": "cat", "EDITOR": "sed -i", "VISUAL": "/usr/bin/sed",
}
# None of these is of use in a sandbox, or may be there.
LEFT = {
    "GIT_EDITOR": "no-such-editor --wait", "MANPAGER": "/home/me/bin/pager",
    "GIT_PAGER": "cat `id`", "GREP_COLORS": "mt=$(id)",
    "FORCE_COLOR": "ghp_" + "a" * 36, "LC_ALL": "C",
    "EDITOR_TOKEN": "x", "AWS_SECRET_ACCESS_KEY": "x",
}


def seen(place, env):
    r = place.run("/usr/bin/python3", "-c", SHOW, env=env)
    t.equal((r.returncode, r.stderr), (0, b""), "a session")
    return json.loads(r.stdout)


def test_passed(work):
    p = Place(work)
    got = seen(p, {**USER, **LEFT})
    for name, value in USER.items():
        t.equal(got.get(name), value, f"{name} is as outside")
    for name in LEFT:
        t.ok(name not in got, f"{name} is left out", got.get(name))


def test_poor(work):
    """An agent draws with letters of UTF-8, whatever the user's language."""
    p = Place(work)
    for lang in ("C", "POSIX", "", "x" * 300, "a\nb"):
        t.equal(seen(p, {"LANG": lang})["LANG"], "C.UTF-8",
                f"LANG={lang[:9]!r}")


def test_editor(work):
    """An editor by its whole path, in a directory that the user shows."""
    p = Place(work)
    own = h.put(os.path.join(p.user, "edit", "bin", "own"), "#!/bin/sh\n", 0o755)
    env = {"EDITOR": own + " --wait", "VISUAL": p.user + "/edit/bin/gone"}
    t.equal(seen(p, env).get("EDITOR"), None, "not one that it does not see")
    h.put(os.path.join(p.home, "config.json"), json.dumps(
        {"agentView": {"allowRead": ["~/edit"]}}), 0o600)
    got = seen(p, env)
    t.equal((got.get("EDITOR"), got.get("VISUAL")), (own + " --wait", None),
            "one that is shown, if it is there")


def test_zone(work):
    """A time zone by the path of a file that the sandbox has, or lacks."""
    p = Place(work)
    for zone in (":/usr/share/zoneinfo/Asia/Tokyo", "/etc/localtime", "JST-9"):
        t.equal(seen(p, {"TZ": zone}).get("TZ"), zone, f"TZ={zone}")
    for zone in (p.user + "/zone", ":" + p.user + "/zone"):
        t.equal(seen(p, {"TZ": zone}).get("TZ"), None,
                "a file of the home is left out, so that the machine's counts")


def test_same(work):
    p = Place(work)
    env = {**p.env, "TZ": "Asia/Tokyo"}
    for argv in (["date", "+%Z"], ["/bin/sh", "-c", "umask"]):
        want = subprocess.run(argv, env=env, capture_output=True, check=True)
        got = p.run(*argv, env={"TZ": "Asia/Tokyo"})
        t.equal(got.stdout, want.stdout, f"{' '.join(argv)} as outside")


def test_tmp(work):
    p = Place(work)
    r = p.run("dd", "if=/dev/zero", "of=/tmp/big", "bs=1M", "count=600",
              "status=none")
    t.equal((r.returncode, r.stderr), (0, b""), "600 MiB in /tmp")
    r = p.run("df", "--output=size", "-m", "/tmp", "/dev/shm")
    t.equal(r.stdout.split()[1:], [b"2048", b"512"],
            "/tmp and /dev/shm by default")


def test_config(work):
    """--config is a path like any other: from where one stands."""
    p = Place(work)
    h.put(os.path.join(work, "other", "c.json"), '{"limits": {"tmpMb": 77}}')
    os.symlink("other", os.path.join(work, "link"))
    for name in ("../other/c.json", "../link/c.json", ".//../other/c.json"):
        r = subprocess.run(
            [*p.argv("df", "--output=size", "-m", "/tmp",
                     options=("--config", name))], env=p.env, cwd=p.project,
            stdin=subprocess.DEVNULL, capture_output=True, check=False,
            timeout=60 * h.PATIENCE)
        t.equal((r.returncode, r.stdout.split()[-1:], r.stderr),
                (0, [b"77"], b""), f"--config {name}")
    h.put(os.path.join(p.project, "c.json"), "{}")
    r = subprocess.run([*p.argv("true", options=("--config", "c.json"))],
                       env=p.env, cwd=p.project, stdin=subprocess.DEVNULL,
                       capture_output=True, check=False, text=True,
                       timeout=60 * h.PATIENCE)
    t.ok(r.returncode == 78 and "the agent can write" in r.stderr,
         "one that the agent can write is refused", r.stderr)


def main():
    if not shutil.which("bwrap"):
        t.skip("habits", "bubblewrap is not installed")
        t.done()
    for test in (test_passed, test_poor, test_editor, test_zone, test_same, test_tmp,
                 test_config):
        with h.workdir() as work, t.case(test.__name__):
            test(work)
    t.done()


if __name__ == "__main__":
    main()
