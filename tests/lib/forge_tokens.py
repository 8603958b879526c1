# SPDX-License-Identifier: ISC
"""Forges with tokens of all kinds, for `icctl doctor --check-api`, which says
what each can do beyond the repositories that its destination lists. The unit
test forge_say has a row for every kind; these go through a session."""
import os

import harness as h
from forge_helper import Forge, TOKEN

CLASSIC = "ghp_" + TOKEN[-36:]
REACHES = ("its token reaches, beyond the list, repositories that its account "
           "can write: ")
# The forge, its host, the scene that answers, the token, the number of requests,
# and what is said.
ROWS = {
    "hub": ("github", "api.github.com", "hub", TOKEN, 2, [
        REACHES + "me/diary, me/site"]),
    "wrong": ("github", "wrong.example.org", "app", CLASSIC, 1, [
        "refused (401): the forge does not accept its token"]),
    "old": ("github", "old.example.org", "old", CLASSIC, 1, [
        "its token is a classic one, for every repository of its account: "
        "repo, read:org",
        "its token can write, beyond the list: me/diary"]),
    "app": ("github", "app.example.org", "app", TOKEN, 1, [
        "not known: the forge does not tell its token which repositories it "
        "has (403)"]),
    "object": ("github", "object.example.org", "object", TOKEN, 1, [
        "not known: the answer is no list of repositories"]),
    "ends": ("github", "ends.example.org", "ends", TOKEN, 2, [
        "it has more repositories than the first 100, which were looked at"]),
    "lab": ("gitlab", "gitlab.example.org", "lab", TOKEN, 3, [
        "its token is shown that of the runners, which a session refuses: "
        "me/shop (Maintainer)",
        "its token has scopes that no request of a session needs: "
        "create_runner",
        "its token can write, beyond the list: me/diary (Owner)"]),
    "tea": ("gitea", "gitea.example.org", "tea", TOKEN, 3, [
        REACHES + "me/diary"])}


class Tokens:
    def __init__(self, work, home):
        """Start the forges, and write their tokens below the home."""
        self.forges, self.destinations = {}, {}
        for name, (kind, host, scene, token, _, _) in ROWS.items():
            place = os.path.join(work, name)
            os.makedirs(place)
            os.makedirs(home, mode=0o700, exist_ok=True)
            real = CLASSIC if scene == "old" else TOKEN
            g = self.forges[name] = Forge(
                place, "forge_lists.py", "--scene", scene, "--token", real)
            h.put(os.path.join(home, name), token + "\n", 0o600)
            self.destinations[name] = {
                "kind": "forge", "forge": kind, "hosts": [host],
                "upstream": g.url, "ca": g.ca, "credential": {"file": name},
                "repositories": ["me/shop"]}

    def check(self, t, checks, out):
        found = [c["found"] for c in checks if c["check"] == "forge"]
        for name, (kind, _, _, token, asked, said) in ROWS.items():
            t.equal([x for x in found if x.startswith(name + ": ")],
                    [f"{name}: {x}" for x in said],
                    f"{name}, a {kind}: {said[0]}")
            t.equal([x["authorized"] for x in self.forges[name].seen()],
                    [name != "wrong"] * asked,
                    "each page is asked for once, with the real token")
            t.ok(token not in out, "which is not printed")
            self.forges[name].end()
