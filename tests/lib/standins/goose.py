#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""Goose as its documentation describes its command line, configuration, hints
and sessions, as far as the adapter uses them, with Anthropic as its provider."""
import argparse
import json
import os
import re
import subprocess
import sys
import urllib.request

CONFIG = os.path.expanduser("~/.config/goose")
SESSIONS = os.path.expanduser("~/.local/share/goose/sessions")


def value(text):
    return json.loads(text) if text[:1] in "[{\"" else text


def settings():
    """Returns what config.yaml sets, and its extensions."""
    top, extensions, one = {}, {}, None
    with open(os.path.join(CONFIG, "config.yaml"), encoding="utf-8") as f:
        for line in f.read().splitlines():
            if m := re.fullmatch(r"([A-Z_]+): (.+)", line):
                top[m[1]] = value(m[2])
            elif m := re.fullmatch(r"  (\w+):", line):
                one = extensions.setdefault(m[1], {})
            elif m := re.fullmatch(r"    (\w+): (.+)", line):
                one[m[1]] = value(m[2])
            elif line != "extensions:":
                sys.exit(f"config.yaml: {line}")
    top.update({k: v for k, v in os.environ.items() if k.startswith("GOOSE_")})
    return top, extensions


class Extension:
    """An MCP server on standard input and output."""

    def __init__(self, e):
        self.p = subprocess.Popen([e["cmd"], *e["args"]], text=True,
                                  stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE)
        self.n = 0
        self.hello = self.ask("initialize", {
            "protocolVersion": "2025-03-26", "capabilities": {},
            "clientInfo": {"name": "goose", "version": "1.0.0"}})
        self.say({"method": "notifications/initialized"})
        self.tools = self.ask("tools/list", {})["tools"]

    def say(self, m):
        self.p.stdin.write(json.dumps({"jsonrpc": "2.0", **m}) + "\n")
        self.p.stdin.flush()

    def ask(self, method, params):
        self.n += 1
        self.say({"id": self.n, "method": method, "params": params})
        while True:
            m = json.loads(self.p.stdout.readline())
            if m.get("id") == self.n:
                return m["result"]


def system(extension):
    """Returns the system prompt: the global hints and the instructions."""
    text = extension.hello.get("instructions", "")
    for name in ("AGENTS.md", ".goosehints"):
        path = os.path.join(CONFIG, name)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                text += f.read()
    return text


def request(top, extension, messages):
    body = {"model": top["GOOSE_MODEL"], "max_tokens": 1000,
            "system": system(extension), "messages": messages,
            "tools": [{"name": "ironcurtain__" + t["name"],
                       "description": t.get("description", ""),
                       "input_schema": t["inputSchema"]}
                      for t in extension.tools]}
    r = urllib.request.Request(
        "https://api.anthropic.com/v1/messages", json.dumps(body).encode(),
        {"x-api-key": os.environ["ANTHROPIC_API_KEY"],
         "content-type": "application/json",
         "anthropic-version": "2023-06-01"})
    with urllib.request.urlopen(r) as answer:
        return json.load(answer)["content"]


def turn(top, extension, messages, text, shown):
    """Answer one message."""
    messages.append({"role": "user",
                     "content": [{"type": "text", "text": text}]})
    while True:
        content = request(top, extension, messages)
        messages.append({"role": "assistant", "content": content})
        results = []
        for c in content:
            if c["type"] == "text":
                print(c["text"], flush=True)
                continue
            if shown:
                print(f"--- {c['name']} ---", flush=True)
            r = extension.ask("tools/call", {
                "name": c["name"].removeprefix("ironcurtain__"),
                "arguments": c["input"]})
            results.append({"type": "tool_result", "tool_use_id": c["id"],
                            "content": r["content"]})
        if not results:
            return
        messages.append({"role": "user", "content": results})


def arguments():
    a = argparse.ArgumentParser(allow_abbrev=False)
    commands = a.add_subparsers(dest="command", required=True)
    for name in ("run", "session"):
        b = commands.add_parser(name, allow_abbrev=False)
        b.add_argument("-n", "--name", required=True)
        b.add_argument("-r", "--resume", action="store_true")
        if name == "run":
            b.add_argument("-q", "--quiet", action="store_true")
            given = b.add_mutually_exclusive_group(required=True)
            given.add_argument("-t", "--text")
            given.add_argument("-i", "--instructions", choices=["-"])
    return a.parse_args()


def main():
    args = arguments()
    top, extensions = settings()
    if top["GOOSE_MODE"] != "auto" or top["GOOSE_PROVIDER"] != "anthropic":
        sys.exit(f"this goose is another: {top}")
    path = os.path.join(SESSIONS, args.name + ".json")
    messages = []
    if args.resume:
        with open(path, encoding="utf-8") as f:
            messages = json.load(f)
    extension = Extension(extensions["ironcurtain"])
    quiet = args.command == "run" and args.quiet
    if not quiet:
        print(f"starting session | model: {top['GOOSE_MODEL']}", flush=True)
    if args.command == "run":
        texts = [args.text or sys.stdin.read()]
    else:
        print("( O)> ", end="", flush=True)
        texts = sys.stdin
    for text in texts:
        turn(top, extension, messages, text.strip(), not quiet)
        os.makedirs(SESSIONS, exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            json.dump(messages, f)


if __name__ == "__main__":
    main()
