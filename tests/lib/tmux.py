# SPDX-License-Identifier: ISC
"""A shell in a terminal that is itself a program: tmux draws the output, and
reports the state of its terminal afterwards."""
import os
import shutil
import subprocess

import harness as h

PROGRAM = shutil.which("tmux")
PROMPT = "shell>"


class Tmux:
    """A tmux server for this test, with one shell in one pane."""

    def __init__(self, work, env, rows=24, cols=80):
        self.socket = os.path.join(work, "tmux.sock")
        rc = h.put(os.path.join(work, "tmux.rc"), "\n".join((
            "set -g default-terminal screen-256color",
            "set -g remain-on-exit on", "set -g status off",
            "set -g monitor-bell on", "set -g bell-action any",
            "set -g allow-rename on")))
        init = h.put(os.path.join(work, "tmux.init"),
                     f"PS1='{PROMPT} '\nset -m\n")
        self.env = {k: v for k, v in env.items() if k != "TERM"}
        self.tmux("-f", rc, "new-session", "-d", "-x", str(cols), "-y",
                  str(rows), "bash", "--noprofile", "--rcfile", init, "-i")
        self.until(PROMPT)

    def tmux(self, *args):
        r = subprocess.run([PROGRAM, "-S", self.socket, *args], env=self.env,
                           capture_output=True, text=True, timeout=20,
                           check=False)
        if r.returncode:
            raise RuntimeError(f"tmux {args}: {r.stderr}")
        return r.stdout

    def ask(self, what):
        """Returns one of tmux's variables for the pane."""
        return self.tmux("display-message", "-p", f"#{{{what}}}").strip()

    def screen(self):
        return self.tmux("capture-pane", "-p").split("\n")[:-1]

    def until(self, text, timeout=30):
        """Returns the screen, once the text is on it."""
        def look():
            lines = self.screen()
            return lines if any(text in x for x in lines) else None
        try:
            return h.wait_for(look, text, timeout, 0.05)
        except TimeoutError as e:
            raise TimeoutError(f"{text!r} is not on the screen:\n" +
                               "\n".join(self.screen())) from e

    def gone(self, text, timeout=30):
        h.wait_for(lambda: not any(text in x for x in self.screen()),
                   f"{text!r} leaves the screen", timeout, 0.05)

    def keys(self, *names):
        self.tmux("send-keys", *names)

    def text(self, text):
        self.tmux("send-keys", "-l", text)

    def run(self, command):
        self.text(command)
        self.keys("Enter")

    def pid(self):
        """The process id of the shell."""
        return int(self.ask("pane_pid"))

    def stty(self):
        """Returns the settings of the pane's terminal."""
        return subprocess.run(["stty", "-a", "-F", self.ask("pane_tty")],
                              capture_output=True, text=True, timeout=20,
                              check=True).stdout

    def modes(self):
        """Returns the modes that a program may have left set."""
        return {name: self.ask(name) for name in (
            "alternate_on", "mouse_any_flag", "mouse_button_flag",
            "mouse_standard_flag", "mouse_sgr_flag", "keypad_cursor_flag",
            "keypad_flag", "cursor_flag", "wrap_flag", "scroll_region_upper",
            "scroll_region_lower")}

    def resize(self, rows, cols):
        self.tmux("resize-window", "-x", str(cols), "-y", str(rows))

    def end(self):
        self.tmux("kill-server")
