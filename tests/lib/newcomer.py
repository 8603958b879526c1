# SPDX-License-Identifier: ISC
"""A constitution of five sentences, and the script of the model that compiles
it."""
import compiling as c

TEXT = """You may read everything in ~/Documents.
You may sort and delete files in ~/Downloads.
Ask me before you read or change any other file.
You may read the sites of major newspapers.
Never push to any repository.
"""
R, W, D = "read-path", "write-path", "delete-path"
FILES = [c.READ_DOCS,
         c.rule("filesystem-tidy-downloads", "allow",
                description="Everything within ~/Downloads is allowed.",
                paths=c.paths("~/Downloads", R, W, D)),
         c.rule("filesystem-ask", "escalate",
                description="Any other file asks.", roles=[R, W, D])]
SITES = [c.rule("fetch-newspapers", "allow", server="fetch",
                description="Reading the sites in @newspapers is allowed.",
                domains={"roles": ["fetch-url"], "allowed": ["@newspapers"]})]
LISTS = [{"name": "newspapers", "type": "domains", "principle": "newspapers",
          "generationPrompt": "Major newspapers", "requiresMcp": False}]
STEPS = [
    {"step": "prefilter", "reply": c.prefilter("filesystem", "fetch", "git")},
    {"step": "rules", "match": 'name="server">\nfilesystem',
     "reply": {"rules": FILES}},
    {"step": "rules", "match": 'name="server">\nfetch',
     "reply": {"rules": SITES, "listDefinitions": LISTS}},
    {"step": "rules", "reply": {"rules": [c.rule(
        "git-ask-read", "escalate", server="git", roles=[R])]}},
    {"step": "values", "reply": {"values": ["nytimes.com", "zeit.de"]}},
    {"step": "scenarios", "match": 'name="server">\nfilesystem',
     "reply": {"scenarios": [
         c.scenario("Read", "read_file", {"path": "~/Documents/a"}, "allow"),
         c.scenario("Tidy", "move_file", {
             "source": "~/Downloads/a", "destination": "~/Downloads/b"},
             "allow"),
         c.scenario("Else", "read_file", {"path": "~/.bashrc"}, "escalate")]}},
    {"step": "scenarios", "match": 'name="server">\nfetch',
     "reply": {"scenarios": [c.scenario(
         "News", "http_fetch", {"url": "https://zeit.de/"}, "allow")]}},
    {"step": "scenarios", "match": "- git_push:", "reply": {"scenarios": [
        c.scenario("Push", "git_push", {
            "path": "/workspace", "remote": "https://github.com/a/b"},
            "not-allow")]}},
    {"step": "scenarios", "reply": {"scenarios": [c.scenario(
        "Tag", "git_tag", {"path": "/workspace", "mode": "list"}, "allow")]}},
    {"step": "judge", "match": 'name="server">\nfilesystem',
     "reply": c.verdicts(5)},
    {"step": "judge", "match": 'name="server">\nfetch',
     "reply": c.verdicts(1)},
    {"step": "judge", "reply": c.verdicts(2)}]
