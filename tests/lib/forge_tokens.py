# SPDX-License-Identifier: ISC
"""Forges with tokens of all kinds, for `icctl doctor --check-api`, which says
what each can do beyond the repositories that its destination lists."""
import os

import harness as h
from forge_helper import Forge, TOKEN

HOSTS = {"github": "api.github.com", "gitlab": "gitlab.example.org",
         "gitea": "gitea.example.org"}
GITHUB = ["forge.py"]
CLASSIC = "ghp_" + TOKEN[-36:]
# The forge, its program, the token, more of its settings, and what is said.
ROWS = {
    "hub": ("github", GITHUB, TOKEN, {}, [
        "its token can write, beyond the list: me/diary, me/site"]),
    "all": ("github", GITHUB, TOKEN, {"repositories": [
        "me/shop", "Me/Diary", "me/site"]}, [
            "its token can write no repository beyond the list"]),
    "wrong": ("github", GITHUB, "github_pat_wrong" + "0" * 30, {}, [
        "refused (401): the forge does not accept its token"]),
    "old": ("github", GITHUB + ["--token", CLASSIC], CLASSIC, {}, [
        "its token is a classic one, for every repository of its account: "
        "repo, read:org",
        "its token can write, beyond the list: me/diary, me/site"]),
    "lab": ("gitlab", ["forge_rest.py", "--host", HOSTS["gitlab"]], TOKEN, {}, [
        "its token can write, beyond the list: me/diary"]),
    "tea": ("gitea", ["forge_rest.py", "--host", HOSTS["gitea"]], TOKEN, {}, [
        "its token can write, beyond the list: me/diary"])}



class Tokens:
    def __init__(self, work, home):
        """Start the forges, and write their tokens below the home."""
        self.forges, self.destinations = {}, {}
        for name, (kind, program, token, more, _) in ROWS.items():
            place = os.path.join(work, name)
            os.makedirs(place)
            os.makedirs(home, mode=0o700, exist_ok=True)
            g = self.forges[name] = Forge(place, *program)
            h.put(os.path.join(home, name), token + "\n", 0o600)
            # A host may be there once only.
            host = HOSTS[kind] if name in ("hub", "lab", "tea") else \
                name + ".example.org"
            self.destinations[name] = {
                "kind": "forge", "forge": kind, "hosts": [host],
                "upstream": g.url, "ca": g.ca, "credential": {"file": name},
                "repositories": ["me/shop"], **more}

    def check(self, t, checks, out):
        found = [c["found"] for c in checks if c["check"] == "forge"]
        for name, (kind, _, token, _, said) in ROWS.items():
            t.equal([x for x in found if x.startswith(name + ": ")],
                    [f"{name}: {x}" for x in said],
                    f"{name}, a {kind}: {said[0]}")
            t.equal([x["authorized"] for x in self.forges[name].seen()],
                    [name != "wrong"], "one request, with the real token")
            t.ok(token not in out, "which is not printed")
            self.forges[name].end()
