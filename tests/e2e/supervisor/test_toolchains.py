#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Toolchains in the user's home: the start names the directories of PATH that
the sandbox does not see; "agentView" shows them, read-only and in the user's
order, without their credentials; and what may not be shown is refused."""
import os
import re
import shutil
import socket
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from started import Place  # noqa: E402

t = h.Tap()
TOKEN = "cargo-token-which-is-secret"
TOOLS = {".nvm/versions/node/v22.1.0/bin/node": "node of nvm",
         ".cargo/bin/cargo": "cargo of rustup", "bin/mytool": "mine",
         "bin/node": "another node"}
DIRS = [".nvm/versions/node/v22.1.0/bin", ".cargo/bin", "bin"]


def place(work, *shown):
    p = Place(work, {"agentView": {"allowRead": list(shown)}} if shown else {})
    for name, says in TOOLS.items():
        path = os.path.join(p.user, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        h.put(path, f"#!/bin/sh\necho {says}\n", 0o755)
    h.put(os.path.join(p.user, ".cargo", "credentials.toml"),
          f'[registry]\ntoken = "{TOKEN}"\n', 0o600)
    p.env["PATH"] = ":".join([os.path.join(p.user, d) for d in DIRS] +
                             ["/usr/bin", "/bin"])
    return p


def test_unseen(work):
    p = place(work)
    r = p.run("/bin/sh", "-c", "command -v cargo; command -v mytool; echo $PATH")
    said = r.stderr.decode()
    t.contains(said, "your PATH has 3 directories that the sandbox does not "
               "see: ~/.nvm/versions/node/v22.1.0/bin, ~/.cargo/bin, ~/bin. "
               "To show them, read-only: {\"agentView\":{\"allowRead\":"
               "[\"~/.nvm\", \"~/.cargo/bin\", \"~/bin\"]}} in config.json",
               "the start names what is not seen, and what shows it")
    t.equal(said.count("\n"), 1, "in one line")
    t.ok(f"{p.user}" not in r.stdout.decode(), "and none of it is in PATH",
         r.stdout)


def test_shown(work):
    p = place(work, "~/.nvm", "~/.cargo", "~/bin")
    os.symlink(os.path.join(p.user, "bin"), os.path.join(p.user, "links"))
    p.env["PATH"] += ":" + os.path.join(p.user, "links")
    r = p.run("/bin/sh", "-c", "for p in node cargo mytool; do command -v $p; "
              "done; node; mytool; "
              "echo $PATH; echo $NVM_DIR; cat ~/../../$1; "
              "for f in $2 $3; do (: > $f) 2>/dev/null && echo wrote $f; done; "
              "mkdir -p ~/.cargo/bin && echo own",
              "-", os.path.join(p.user, ".cargo/credentials.toml"),
              os.path.join(p.user, "bin/new"), os.path.join(p.user, "bin/node"))
    lines = r.stdout.decode().splitlines()
    t.equal(r.stderr, b"", "nothing is said")
    t.equal(lines[:3], [os.path.join(p.user, x) for x in (
        ".nvm/versions/node/v22.1.0/bin/node", ".cargo/bin/cargo",
        "bin/mytool")], "the same programs as outside, in the user's order")
    t.equal(lines[3:5], ["node of nvm", "mine"], "and they run")
    user = [x for x in lines[5].split(":") if x.startswith(p.user)]
    t.equal(user, [os.path.join(p.user, d) for d in DIRS],
            "a link in PATH that leads to another is not there twice")
    t.equal(lines[6], os.path.join(p.user, ".nvm"), "a manager finds its own")
    t.equal(lines[7:], ["own"], "the credential is empty, nothing there can be "
            "written, and the agent's own place can")
    with open(os.path.join(p.user, ".cargo", "credentials.toml"),
              encoding="utf-8") as f:
        t.contains(f.read(), TOKEN, "outside it is as it was")


def test_browsers(work):
    """The agent has another home than the user, in which its libraries would
    look for browsers."""
    rows = {".cache/ms-playwright": "PLAYWRIGHT_BROWSERS_PATH",
            ".cache/puppeteer": "PUPPETEER_CACHE_DIR",
            ".cache/Cypress": "CYPRESS_CACHE_FOLDER"}
    p = place(work, *("~/" + d for d in rows))
    for d in rows:
        h.put(os.path.join(p.user, d, "browser"), "here\n", 0o755)
    r = p.run("/bin/sh", "-c", "; ".join(
        f'echo "${v}"; cat "${v}/browser"' for v in rows.values()))
    t.equal(r.stdout.decode().split(), [x for d in rows for x in (
        os.path.join(p.user, d), "here")],
        "browsers of the user's cache are found")


# The places in which managers keep programs, and the links to them that are in PATH.
KEPT = {".local/share/pipx/venvs/black/bin/black": ".local/bin/black",
        ".local/share/uv/tools/ruff/bin/ruff": ".local/bin/ruff",
        ".local/share/own/prog/go": ".local/bin/go",
        ".npm-global/lib/node_modules/tsc/bin/tsc": ".npm-global/bin/tsc",
        ".config/tool/vendor/x/bin/x": ".config/tool/vendor/bin/x",
        ".krew/store/ctx/v1/ctx": ".krew/bin/ctx",
        "work/lib/far": ".local/bin/far"}
PLACES = ["~/.local/share/pipx", "~/.local/share/uv", "~/.local/share/own/prog",
          "~/.npm-global", "~/.config/tool/vendor", "~/.krew", "~/work/lib"]


def managed(work, *shown):
    """Returns a place whose PATH has the directories with the links, and one
    that fnm makes outside of the home."""
    p = place(work, *shown)
    for n, (kept, link) in enumerate(KEPT.items()):
        h.put(os.path.join(p.user, kept), "#!/bin/sh\necho kept\n", 0o755)
        path = os.path.join(p.user, link)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        # Relative ones, absolute ones, and some behind another link.
        end = os.path.join(p.user, kept)
        if n % 3 == 0:
            end = os.path.relpath(end, os.path.dirname(path))
        elif n % 3 == 1:
            os.symlink(end, path + ".1")
            end = os.path.basename(path) + ".1"
        os.symlink(end, path)
    os.symlink(os.path.join(p.user, "nowhere"),
               os.path.join(p.user, ".local/bin/gone"))
    os.symlink("/usr/bin/env", os.path.join(p.user, ".local/bin/env"))
    node = os.path.join(p.user, ".local/share/fnm/node-versions/v22")
    h.put(os.path.join(node, "installation/bin/fnode"),
          "#!/bin/sh\necho fnm\n", 0o755)
    shell = os.path.join(p.user, ".local/state/multishells", "1_2")
    os.makedirs(os.path.dirname(shell))
    os.symlink(os.path.join(node, "installation"), shell)
    h.put(os.path.join(p.user, ".rustup/settings.toml"), "x = 1\n")
    p.env["PATH"] = ":".join(
        [os.path.join(p.user, d) for d in dict.fromkeys(
            os.path.dirname(x) for x in KEPT.values())] +
        [os.path.join(p.user, ".cargo/bin"), os.path.join(shell, "bin"),
         "/usr/bin", "/bin"])
    return p


def test_links(work):
    """Programs that are links into a manager's own place: the place is named,
    and when it is shown they run."""
    p = managed(work)
    r = p.run("/bin/true")
    said = r.stderr.decode()
    for key in (*PLACES, "~/.local/bin", "~/.cargo/bin", "~/.rustup",
                "~/.local/share/fnm"):
        t.contains(said, f'"{key}"', f"{key} is what shows it")
    t.ok("multishells/1_2/bin" in said.split("To show")[0] and
         "multishells" not in said.split("To show")[1],
         "fnm's directory of a moment is named, and not as what to show", said)
    t.equal(said.count('"') / 2, len(PLACES) + 4 + 2,
            "each once, and nothing else", )
    t.equal(said.count("\n"), 1, "in one line")
    p = managed(os.path.join(work, "seen"), "~/.local/bin", "~/.cargo/bin",
                "~/.krew", "~/.npm-global/bin", "~/.config/tool/vendor/bin",
                "~/.local/share/fnm")
    r = p.run("/bin/sh", "-c", "black; fnode; ctx; env true")
    said = r.stderr.decode().split("\n")[0]
    t.equal(r.stdout, b"fnm\nkept\n", "what is shown runs")
    t.ok(said.startswith("icsupervisor: 8 programs in your PATH are links to "
                         "where the sandbox does not see: ") and
         "~/.local/bin/black" in said and "gone" not in said and
         "/env" not in said and "krew" not in said,
         "links that lead elsewhere are named, and those to nowhere are not",
         said)
    for key in PLACES:
        t.equal(f'"{key}"' in said, key != "~/.krew",
                f"{key} would show them, if it is not shown")
    p = managed(os.path.join(work, "all"), "~/.local/bin", "~/.cargo/bin",
                "~/.local/share/fnm", *PLACES)
    r = p.run("/bin/sh", "-c", "for x in " + " ".join(
        os.path.basename(x) for x in KEPT.values()) + "; do $x; done")
    t.equal((r.stdout, r.stderr), (b"kept\n" * len(KEPT), b""),
            "with these places all run, and nothing is said")


# Links that anything installed outside may have planted, and what shows them:
# never a place that has more than one program's files, or that is refused.
PLANTED = {"foo.sh": "", ".config/foo.sh": "", ".local/foo": "",
           ".local/share/foo": "", ".local/state/foo": "", ".cache/foo": "",
           ".ssh/foo": "", ".ironcurtain/foo": "", ".var/app/foo": "",
           ".config/own/foo": "", ".foo/bar": "", "work/foo": "",
           ".config/prog/a/foo": "~/.config/prog/a", ".pr/a/foo": "~/.pr/a",
           ".pq/bin/foo": "~/.pq", ".ps/v/1/bin/foo": "~/.ps/v/1",
           "own/bin/foo": "~/own/bin", "own/v/1/bin/foo": "~/own/v/1"}


def test_planted(work):
    """A link to what may not be shown is named, and never leads to advice to
    show all that lies beside it."""
    p = Place(work, {})
    own = os.path.join(p.user, ".ironcurtain")
    shutil.move(p.home, own)
    p.env["IRONCURTAIN_HOME"] = own
    dirs = [os.path.join(p.user, d) for d in ("tools", ".config/bin")]
    for d in dirs:
        os.makedirs(d)
    for n, end in enumerate(PLANTED):
        h.put(os.path.join(p.user, end), "#!/bin/sh\n", 0o755)
        for d in dirs:
            os.symlink(os.path.join(p.user, end), os.path.join(d, str(n)))
    # This is a file, and no program.
    h.put(os.path.join(p.user, ".pt/a/foo"), "x")
    os.symlink(os.path.join(p.user, ".pt/a/foo"), os.path.join(dirs[0], "t"))
    p.env["PATH"] = ":".join([*dirs, "/usr/bin", "/bin"])
    said = p.run("/bin/true").stderr.decode()
    t.equal(set(re.findall(r'"(~.*?)"', said)),
            {"~/tools", "~/.config/bin", *filter(None, PLANTED.values())},
            "only what is one program's is named")
    p = place(os.path.join(work, "seen"), "~/bin")
    p.env["PATH"] = os.path.join(p.user, "bin") + ":/usr/bin:/bin"
    os.mkdir(os.path.join(p.user, ".config"))
    h.put(os.path.join(p.user, ".config/foo.sh"), "#!/bin/sh\n", 0o755)
    os.symlink(os.path.join(p.user, ".config/foo.sh"),
               os.path.join(p.user, "bin/foo"))
    t.contains(p.run("/bin/true").stderr.decode(),
               "icsupervisor: 1 program in your PATH is a link to where the "
               "sandbox does not see: ~/bin/foo\n",
               "and no advice if none is good")


def test_spelled(work):
    """A directory of PATH as people write it: what is advised is taken."""
    p = place(work)
    h.put(os.path.join(p.user, "my caf\u00e9/x"), "#!/bin/sh\necho x\n", 0o755)
    p.env["PATH"] = ":".join(
        [p.user + "//my caf\u00e9/", p.user + "/none/../bin/.", ".", "",
         "/usr/bin", "/bin"])
    os.mkdir(os.path.join(p.user, "none"))
    said = p.run("/bin/true").stderr.decode()
    config = re.search(r"read-only: (\{.*\}) in config.json", said)
    t.ok(config, "what shows them is said", said)
    h.put(os.path.join(p.home, "config.json"), config.group(1), 0o600)
    r = p.run("/bin/sh", "-c", "x; mytool")
    t.equal((r.stdout, r.stderr), (b"x\nmine\n", b""), "and shows them")


def test_many(work):
    """A PATH with very many directories has its line as well."""
    p = place(work)
    p.env["PATH"] = ":".join(os.path.join(p.user, f"d{i}") for i in range(200))
    for d in p.env["PATH"].split(":"):
        os.mkdir(d)
    p.env["PATH"] += ":/usr/bin:/bin"
    said = p.run("/bin/true").stderr.decode()
    t.contains(said, "directories that the sandbox does not see: ~/d0, ~/d1, "
               "~/d2, ~/d3, ~/d4, ~/d5, ~/d6, ~/d7 and others. To show them",
               "200 directories of PATH")


def test_choice(work):
    """A version that a manager finds in the home."""
    p = place(work, "~/.asdf")
    h.put(os.path.join(p.user, ".asdf/shims/x"), "#!/bin/sh\n"
          "cat $HOME/.tool-versions\n", 0o755)
    h.put(os.path.join(p.user, ".tool-versions"), "nodejs 20.1.0\n")
    p.env["PATH"] = os.path.join(p.user, ".asdf/shims") + ":/usr/bin:/bin"
    r = p.run("/bin/sh", "-c", "x")
    t.equal((r.stdout, r.stderr), (b"nodejs 20.1.0\n", b""),
            "asdf's versions are in the agent's home")
    p = place(os.path.join(work, "not"))
    h.put(os.path.join(p.user, ".tool-versions"), "nodejs 20.1.0\n")
    r = p.run("/bin/sh", "-c", "ls -A ~")
    t.ok(b".tool-versions" not in r.stdout, "and not without asdf", r.stdout)


def refused(work, shown, want, prepare=None):
    p = place(work, shown)
    if prepare:
        prepare(p)
    r = p.run("/bin/echo", "ran")
    t.ok(r.returncode == 78 and r.stdout == b"" and
         want.encode() in r.stderr, f"{shown} is refused: {want}",
         f"{r.returncode} {r.stdout} {r.stderr}")


def test_refused(work):
    def sock(p):
        s = socket.socket(socket.AF_UNIX)
        s.bind(os.path.join(p.user, "bin", "control"))

    def fifo(p):
        os.mkfifo(os.path.join(p.user, ".nvm", "pipe"))

    cases = [("~", "home"), ("/", "/"), ("~/nothing", "No such file"),
             ("{work}/home", "refused"), ("{work}/home/sessions", "refused"),
             ("{work}/project", "can write"), ("{work}", "refused"),
             ("/usr/share", "the sandbox has its own"),
             ("/tmp", "the sandbox has its own"),
             ("/proc", "the sandbox has its own"),
             ("~/bin", "a socket", sock), ("~/.nvm", "a FIFO", fifo),
             ("~/.ssh", "credentials",
              lambda p: os.mkdir(os.path.join(p.user, ".ssh"))),
             ("~/bin/../.ssh", "must be absolute"), ("~/*", "patterns")]
    for i, (shown, want, *prepare) in enumerate(cases):
        place_ = os.path.join(work, str(i))
        os.mkdir(place_)
        refused(place_, shown.format(work=place_), want, *prepare)


def test_engines(work):
    """An engine of containers says why it cannot work, whether the machine has
    it or not."""
    p = Place(work)
    whole = [os.path.join(d, n) for d in ("/usr/bin", "/usr/local/bin")
             for n in ("docker", "podman")]
    for name in ("docker", "podman", "buildah", "podman-compose",
                 *(x for x in whole if os.path.isfile(x) and
                   not os.path.islink(x))):
        r = p.run("/bin/sh", "-c", f"{name} run --rm alpine")
        name = os.path.basename(name)
        said = r.stderr.decode()
        t.ok(r.returncode == 125 and r.stdout == b"" and
             said.startswith(f"{name}: ") and said.count("\n") == 1 and
             "namespaces" in said and "icctl image build" in said and
             "services" in said,
             f"{name} says why in one line", f"{r.returncode} {said}")


NPM = """
mkdir -p tool && cd tool || exit
echo '{"name": "tool", "version": "1.0.0", "bin": {"tool": "tool.js"}}' \
    > package.json
printf '#!/usr/bin/env node\nconsole.log("it runs")\n' > tool.js
npm pack --silent > /dev/null
npm "$@" --silent --offline ./tool-1.0.0.tgz > /dev/null
tool; command -v tool
env | grep -ciE '^(npm_config_)?prefix='
npm config get registry --global
npm config set prefix=/tmp/own; npm prefix --global
"""


def test_global(work):
    """npm installs programs for all projects into the agent's home, since the
    place beside node is read-only."""
    if not shutil.which("npm"):
        t.skip("npm", "npm is not installed")
        return
    for words in (["install", "-g"], ["i", "--global"],
                  ["add", "--location=global"]):
        p = Place(os.path.join(work, words[0]))
        outside = subprocess.run(
            ["npm", "config", "get", "registry", "--global"], env=p.env,
            capture_output=True, check=True, cwd=p.user).stdout.decode()
        r = p.run("/bin/sh", "-c", NPM, "-", *words)
        t.equal(r.stdout.decode().splitlines(),
                ["it runs", "/home/agent/.npm-global/bin/tool", "0",
                 outside.strip(), "/tmp/own"],
                f"npm {' '.join(words)}: it is in PATH; nvm finds no variable, "
                "and npm the machine's settings and the agent's own")
        t.equal(r.stderr, b"", "nothing is said")


def main():
    if not shutil.which("bwrap"):
        t.skip("toolchains", "bubblewrap is not installed")
        t.done()
    for test in (test_unseen, test_shown, test_browsers, test_links,
                 test_planted, test_spelled, test_many, test_choice,
                 test_refused, test_engines, test_global):
        with h.workdir() as work, t.case(test.__name__):
            test(work)
    t.done()


if __name__ == "__main__":
    main()
