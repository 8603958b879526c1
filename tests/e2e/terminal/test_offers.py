#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Offers of an agent on its screen: a text to copy, and an address to open.
Neither leaves the sandbox before the person has seen it whole and said yes. And
the other way: an image that a person pastes."""
import glob
import json
import os
import shlex
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "lib"))
import harness as h  # noqa: E402
from tmux import Tmux  # noqa: E402

t = h.Tap()
# Does what is typed: copies, opens or looks at the rest of the line.
AGENT = r"""#!/usr/bin/python3
import base64, os, subprocess, sys
print("ready", flush=True)
for line in sys.stdin:
    word, _, rest = line.strip().partition(" ")
    rest = rest.encode().decode("unicode_escape")
    if word == "copy":
        code = base64.b64encode(rest.encode("latin-1")).decode()
        print(f"\033]52;c;{code}\a did {word}", flush=True)
    elif word == "twice":
        for text in rest.split(",") * 20:
            code = base64.b64encode(text.encode()).decode()
            print(f"\033]52;c;{code}\a", end="", flush=True)
        print(f"did {word} {rest}", flush=True)
    elif word == "links":
        for text in rest.split(",") * 20:
            print(f"\033]7770;https://{text}.example/\a", end="", flush=True)
        print(f"did {word} {rest}", flush=True)
    elif word == "flood":
        block = b"QUFB" * 4096
        for head in (b"\033]52;c;", b"\033]52;;", b"\033]52;p;\x00",
                     b"\033]7770;https://a.example/"):
            os.write(1, head)
            for _ in range(int(rest) * 16):
                at = 0
                while at < len(block):
                    at += os.write(1, block[at:])
            os.write(1, b"\a")
        for query in (b"\033]52;c;?\a", b"\x9d52;c;?\x9c"):
            os.write(1, query)
        print(f"did {word}", flush=True)
    elif word == "look":
        clip = [subprocess.run(c.split(), stdout=subprocess.PIPE).stdout
                for c in ("xclip -selection clipboard -t TARGETS -o",
                          "xclip -selection clipboard -t image/png -o")]
        with open(rest.strip(), "rb") as f:
            same = f.read() == clip[1]
        try:
            os.unlink(rest.strip())
        except OSError as e:
            print(f"saw {len(clip[1])} {same} {clip[0]} {e.errno}", flush=True)
    elif word == "open":
        r = subprocess.run(["xdg-open", rest], stdin=subprocess.DEVNULL,
                           capture_output=True, text=True)
        print(f"did {word} {r.returncode} {r.stderr[:50]}", flush=True)
"""


class Rig:
    def __init__(self, work):
        self.s = h.Session(work, {}, env={"TERM": "xterm-256color"})
        h.put(os.path.join(self.s.workspace, "agent.py"), AGENT, 0o755)
        self.tmux = Tmux(work, self.s.env)
        self.tmux.tmux("set-option", "-g", "set-clipboard", "on")
        self.tmux.run(shlex.join([h.program("icctl"), "start", "--quiet",
                                  "--workspace", self.s.workspace, "--",
                                  "/workspace/agent.py"]))
        self.tmux.until("ready")

    def type(self, line, told):
        self.tmux.text(line)
        self.tmux.keys("Enter")
        self.tmux.until(told)

    def copied(self):
        return self.tmux.ask("buffer_sample")

    def back(self):
        self.tmux.until("Enter: back to the agent")
        self.tmux.keys("Enter")
        self.tmux.until("for commands")


def copies(r):
    r.type(r"copy one\ntwo\x1b[2J\n", "Ctrl-] c: copy")
    t.equal(r.copied(), "", "nothing is copied before a yes")
    r.tmux.keys("C-]", "c")
    r.tmux.until("Copy these 10 bytes in 2 lines?")
    rows = [x.strip() for x in r.tmux.screen()]
    t.ok("one" in rows and "two[2J" in rows, "the text is shown whole", rows)
    r.tmux.keys("n", "Enter")
    r.back()
    t.equal(r.copied(), "", "nor after a no")
    r.tmux.keys("C-]", "c")
    r.tmux.until("offers nothing")
    t.ok(True, "which takes the offer away")
    r.type(r"copy three\n", "Ctrl-] c: copy")
    r.tmux.keys("C-]", "c")
    r.tmux.until("Copy these 5 bytes in 1 line?")
    r.tmux.keys("y", "Enter")
    h.wait_for(lambda: r.copied() == "three", "the clipboard")
    t.ok(True, "a yes copies it, without the last newline")
    r.back()


def exchanged(r):
    """Another offer right before the key, and one while a text is shown."""
    r.type("twice one,other", "did twice one,other")
    r.tmux.keys("C-]", "c")
    r.tmux.until("Copy these 5 bytes in 1 line?")
    t.ok("other" in [x.strip() for x in r.tmux.screen()],
         "the text that is there at the key is shown", r.tmux.screen())
    r.tmux.keys("n", "Enter")
    r.back()
    r.type("twice one,two", "did twice one,two")
    r.tmux.keys("C-]", "c", "y", "Enter")
    r.tmux.until("Copy these 3 bytes in 1 line?")
    t.equal(r.copied(), "three", "a yes that was typed before it was there is "
            "none")
    r.tmux.keys("y", "Enter")
    h.wait_for(lambda: r.copied() == "two", "the clipboard")
    t.ok(True, "and the yes is for what was shown")
    r.back()


def floods(r, size):
    """That many megabytes, as three spellings for the clipboard and as a link,
    and reads."""
    r.tmux.text(f"flood {size}")
    r.tmux.keys("Enter")
    h.wait_for(lambda: any("did flood" in x for x in r.tmux.screen()),
               "the end of the flood", 300)
    t.ok(not any("QUFB" in x for x in r.tmux.screen()),
         f"nothing of {size} MB is on the screen", r.tmux.screen())
    r.tmux.keys("C-]", "o")
    r.tmux.until("offers nothing")
    r.tmux.keys("C-]", "c")
    r.tmux.until("offers nothing")
    t.equal(r.copied(), "two", "it is no offer, and nothing was copied")
    r.type("copy still here", "Ctrl-] c: copy")
    r.tmux.keys("C-]", "c")
    r.tmux.until("Copy these 10 bytes")
    r.tmux.keys("n", "Enter")
    r.back()
    t.ok(True, "the terminal lives")


def opens(r):
    r.type("open https://a.example/x?y=1", "Ctrl-] o: open a.example?")
    r.tmux.keys("C-]", "o")
    r.tmux.until("Copy the address?")
    rows = "\n".join(r.tmux.screen())
    t.ok("https://a.example/x?y=1\n" in rows.replace(" \n", "\n") and
         "There is no desktop here" in rows,
         "an address is shown whole", rows)
    r.tmux.keys("n", "Enter")
    r.back()
    r.type("open file:///etc/passwd", "did open 3")
    t.ok("only web addresses" in "\n".join(r.tmux.screen()),
         "a file is refused in the sandbox", r.tmux.screen())
    r.type("open http://127.0.0.1:631/admin", "Ctrl-] o: open 127.0.0.1:631?")
    r.tmux.keys("C-]", "o")
    r.tmux.until("port 631 of the sandbox")
    t.ok(any("is not published" in x for x in r.tmux.screen()),
         "a port of the sandbox is none of this machine", r.tmux.screen())
    r.back()


def links_exchanged(r):
    """Another address right before the key, and one while an address is shown."""
    r.type("links one,other", "did links one,other")
    r.tmux.keys("C-]", "o")
    r.tmux.until("Copy the address?")
    t.ok("https://other.example/" in [x.strip() for x in r.tmux.screen()],
         "the address that is there at the key is shown", r.tmux.screen())
    r.tmux.keys("n", "Enter")
    r.back()
    before = r.copied()
    r.type("links one,two", "did links one,two")
    r.tmux.keys("C-]", "o", "y", "Enter")
    r.tmux.until("Copy the address?")
    t.equal(r.copied(), before, "a yes that was typed before it was there is "
            "none for an address, either")
    r.tmux.keys("y", "Enter")
    h.wait_for(lambda: r.copied() == "https://two.example/", "the clipboard")
    t.ok(True, "and the yes is for the one that was shown")
    r.back()


PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)


def put(path, data):
    with open(path, "wb") as f:
        f.write(data)


def paste(r, *args, data=None):
    p = subprocess.run([h.program("icctl"), "--json", "paste", *args],
                       env=r.s.env, input=data, capture_output=True,
                       timeout=60, check=False)
    return p.returncode, p.stdout.decode()


def pastes(r):
    """The image is recorded, then seen, and its path is in the prompt."""
    status, text = paste(r, "-", data=PNG)
    at = json.loads(text) if status == 0 else text
    t.ok(status == 0 and at["path"] == "/run/ironcurtain/inbox/1.png" and
         at["bytes"] == len(PNG), "an image is pasted", text)
    r.tmux.until("/run/ironcurtain/inbox/1.png")
    t.ok(True, "its path comes into the prompt")
    r.tmux.keys("C-u")
    r.type("look /run/ironcurtain/inbox/1.png", "saw ")
    t.ok(any(f"saw {len(PNG)} True b'image/png\\n' 30" in x
             for x in r.tmux.screen()),
         "the sandbox reads it, as a file and as its clipboard, and cannot "
         "remove it", r.tmux.screen())
    log = glob.glob(os.path.join(r.s.home, "sessions/*/audit.jsonl"))[0]
    t.equal([x["detail"]["sha256"] for x in h.read_lines(log)
             if x["event"] == "paste"], [at["sha256"]], "it is recorded")


def pastes_by_key(r):
    put(os.path.join(r.s.workspace, "shot.gif"), b"GIF89a" + bytes(9))
    r.tmux.keys("C-]", "v")
    r.tmux.until("Path of an image, or nothing:")
    r.tmux.text(os.path.join(r.s.workspace, "shot.gif"))
    r.tmux.keys("Enter")
    r.tmux.until("image/gif, 15 bytes")
    r.back()
    r.tmux.until("/run/ironcurtain/inbox/2.gif")
    t.ok(True, "Ctrl-] v pastes the file whose path is typed")


def pastes_nothing_else(r):
    where = r.s.workspace
    put(os.path.join(where, "elf"), b"\x7fELF" + bytes(99))
    put(os.path.join(where, "long.png"), PNG + bytes(10 << 20))
    put(os.path.join(where, "empty.png"), b"")
    os.mkfifo(os.path.join(where, "pipe.png"))
    os.symlink("shot.gif", os.path.join(where, "link.gif"))
    for name, why in (("elf", "no PNG"), ("long.png", "more than 10 MiB"),
                      ("empty.png", "no PNG"), ("pipe.png", "this is no file"),
                      ("link.gif", "this is a link"), (".", "this is no file"),
                      ("nowhere.png", "No such file")):
        status, text = paste(r, os.path.join(where, name))
        t.ok(status == 1 and why in text, f"{name} is refused", text)
    inbox = glob.glob(os.path.join(r.s.home, "sessions/*/sockets/inbox/*"))
    t.equal(sorted(map(os.path.basename, inbox)), ["1.png", "2.gif"],
            "and leaves nothing in the inbox")


def main():
    with h.workdir() as work, t.case("offers"):
        r = Rig(work)
        try:
            copies(r)
            exchanged(r)
            floods(r, int(sys.argv[1]) if len(sys.argv) > 1 else 2)
            opens(r)
            links_exchanged(r)
            pastes(r)
            pastes_by_key(r)
            pastes_nothing_else(r)
        finally:
            r.tmux.end()
    t.done()


if __name__ == "__main__":
    main()
