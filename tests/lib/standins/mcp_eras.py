#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""An MCP server on stdio that speaks revision 2026-07-28, an older one, or both:
--era modern, dual or legacy. Each line that it gets, and "start", is a line in
the file of --log. Shares no code with the product.

Tools: echo; ask (asks `rounds` times for what `kinds` names, and tells what it
was answered; in an older revision once, by requests of its own); later (returns only a state, `rounds` times); odd (a result of
another type); tell (logs, and has progress); change (lists one tool less);
touch (says that the resource `uri` has changed); die (ends)."""
import argparse
import json
import os
import sys

MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"
ANY = {"type": "object"}


class Server:
    def __init__(self, opts):
        self.opts = opts
        self.listens = {}
        self.subscribed = set()
        self.changed = False
        self.asked, self.answers = {}, {}
        self.note("start", None)

    def note(self, method, params, **more):
        if self.opts.log:
            with open(self.opts.log, "a", encoding="utf-8") as f:
                f.write(json.dumps([method, params, more]) + "\n")

    def send(self, **message):
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()

    def result(self, ident, value, modern, **more):
        if modern:
            value = {"resultType": "complete", **value, **more}
        self.send(id=ident, result=value)

    def fail(self, ident, code, text, data=None):
        self.send(id=ident, error={"code": code, "message": text,
                                   **({"data": data} if data else {})})

    def take(self, m):
        method, ident = m.get("method"), m.get("id")
        params = m.get("params") or {}
        self.note(method, params, id=ident)
        meta = params.get("_meta") or {}
        modern = META + "protocolVersion" in meta
        if method == "notifications/cancelled":
            self.listens.pop(params.get("requestId"), None)
        if method is None and ident in self.asked:
            self.answered(self.asked.pop(ident), m.get("result"))
        if ident is None or method is None:
            return
        if modern and self.opts.probe == "die":
            sys.exit(3)
        if modern and self.opts.probe == "silent":
            return
        if modern and self.opts.era == "legacy":
            self.fail(ident, -32601, "no such method")
        elif modern and self.opts.versions and MODERN not in \
                self.opts.versions:
            self.fail(ident, -32022, "no", {"supported": self.opts.versions,
                                            "requested": MODERN})
        elif modern:
            self.serve(method, ident, params, True)
        elif self.opts.era == "modern":
            self.fail(ident, -32600, "Unsupported protocol version",
                      {"supported": [MODERN]})
        elif method == "initialize":
            self.send(id=ident, result={
                "protocolVersion": "2025-06-18", "capabilities": {
                    **({} if self.opts.probe else
                       {"resources": {"subscribe": True}}),
                    "tools": {"listChanged": True}},
                "serverInfo": {"name": "eras", "version": "1"}})
        else:
            self.serve(method, ident, params, False)

    def serve(self, method, ident, params, modern):
        if method == "server/discover":
            self.result(ident, {
                "supportedVersions": [MODERN], "capabilities": {
                    "tools": {"listChanged": True}, "logging": {},
                    "resources": {"listChanged": True, "subscribe": True},
                    "prompts": {}},
                "instructions": "Words of eras.",
                "_meta": {META + "serverInfo": {"name": "eras",
                                                "version": "2"}}},
                True, ttlMs=1000, cacheScope="public")
        elif method == "subscriptions/listen":
            self.listens[ident] = params["notifications"]
            self.send(method="notifications/subscriptions/acknowledged",
                      params={"_meta": {META + "subscriptionId": ident},
                              "notifications": params["notifications"]})
        elif method.startswith("resources/") and method[10:] in (
                "subscribe", "unsubscribe") and not modern:
            (self.subscribed.add if method[10] == "s" else
             self.subscribed.discard)(params["uri"])
            self.result(ident, {}, False)
        elif method == "tools/list":
            names = ["echo", "ask", "later", "tell", "change", "touch", "die"]
            self.result(ident, {"tools": [
                {"name": n, "description": n, "inputSchema": ANY}
                for n in names + ([] if self.changed else ["odd"])]}, modern,
                ttlMs=self.opts.ttl, cacheScope="public")
        elif method == "resources/list":
            self.result(ident, {"resources": [{"uri": "era://one",
                                               "name": "one"}]}, modern)
        elif method == "resources/templates/list":
            self.result(ident, {"resourceTemplates": []}, modern)
        elif method == "prompts/list":
            self.result(ident, {"prompts": [{"name": "hi"}]}, modern)
        elif method == "resources/read":
            self.read(ident, params, modern)
        elif method == "prompts/get":
            self.result(ident, {"messages": []}, modern)
        elif method == "tools/call":
            self.call(ident, params, modern)
        else:
            self.fail(ident, -32601, "no such method")

    def read(self, ident, params, modern):
        if params["uri"] != "era://one":
            self.fail(ident, -32602 if modern else -32002, "not found",
                      {"uri": params["uri"]})
            return
        if modern and "requestState" not in params:
            self.send(id=ident, result={"resultType": "input_required",
                                        "requestState": "read"})
            return
        self.result(ident, {"contents": [{"uri": "era://one", "text": "1"}]},
                    modern, ttlMs=5000, cacheScope="public")

    def text(self, ident, text, modern):
        self.result(ident, {"content": [{"type": "text", "text": text}]},
                    modern)

    def call(self, ident, params, modern):
        name, args = params["name"], params.get("arguments") or {}
        if name == "ask":
            self.ask(ident, params, args, modern)
        elif name == "later":
            n = int(params.get("requestState", "state 0").split()[1])
            if n < args.get("rounds", 1) and modern:
                self.send(id=ident, result={
                    "resultType": "input_required",
                    "requestState": f"state {n + 1}"})
            else:
                self.text(ident, f"after {n}", modern)
        elif name == "odd" and "lacks" in args:
            self.fail(ident, -32021, "lacks it", {
                "requiredCapabilities": args["lacks"], "more": 1})
        elif name == "odd":
            self.send(id=ident, result={"resultType": args.get("type"),
                                        "content": []})
        elif name == "tell":
            meta = params.get("_meta", {})
            if META + "logLevel" in meta or not modern:
                self.send(method="notifications/message", params={
                    "level": "warning", "data": "told"})
            if "progressToken" in meta:
                self.send(method="notifications/progress", params={
                    "progressToken": meta["progressToken"], "progress": 1})
            if args.get("request"):
                self.send(id="q", method="ping")
            self.text(ident, json.dumps(sorted(meta)), modern)
        elif name == "die":
            os._exit(4)
        elif name == "touch":
            uri = args["uri"]
            if uri in self.subscribed:
                self.send(method="notifications/resources/updated",
                          params={"uri": uri})
            for listen, what in self.listens.items():
                if uri in what.get("resourceSubscriptions", []):
                    self.send(method="notifications/resources/updated",
                              params={"uri": uri, "_meta": {
                                  META + "subscriptionId": listen}})
            self.text(ident, "touched", modern)
        elif name == "change":
            self.changed = True
            self.text(ident, "changed", modern)
            if not modern:
                self.send(method="notifications/tools/list_changed")
            for ident, what in self.listens.items():
                if what.get("toolsListChanged"):
                    self.send(method="notifications/tools/list_changed",
                              params={"_meta": {
                                  META + "subscriptionId": ident}})
        else:
            self.text(ident, args.get("text", ""), modern)

    def ask(self, ident, params, args, modern):
        n = int(params.get("requestState", "asked 0").split()[1])
        if n >= args.get("rounds", 1):
            self.text(ident, json.dumps(params.get("inputResponses")), modern)
            return
        kinds = {
            "seat": {"method": "elicitation/create", "params": {
                "message": "Which seat?", "requestedSchema": {
                    "type": "object", "required": ["seat"], "properties": {
                        "seat": {"type": "string",
                                 "enum": ["window", "aisle"]}}}}},
            "secret": {"method": "elicitation/create", "params": {
                "message": "Your password?", "requestedSchema": {
                    "type": "object", "properties": {
                        "password": {"type": "string"}}}}},
            "roots": {"method": "roots/list", "params": {}},
            "model": {"method": "sampling/createMessage", "params": {
                "messages": [], "maxTokens": 1}},
            "odd": {"method": "x/y"},
        }
        if not modern:
            self.answers[ident] = {}
            for k in args["kinds"]:
                self.asked[f"{ident} {k}"] = (ident, k)
                self.send(id=f"{ident} {k}", **kinds[k])
            return
        self.send(id=ident, result={
            "resultType": "input_required", "requestState": f"asked {n + 1}",
            "inputRequests": {k: kinds[k] for k in args["kinds"]}})

    def answered(self, call, result):
        ident, kind = call
        self.answers[ident][kind] = result
        if all(x[0] != ident for x in self.asked.values()):
            self.text(ident, json.dumps(self.answers.pop(ident)), False)


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--era", choices=["modern", "dual", "legacy"],
                   default="dual")
    p.add_argument("--probe", choices=["die", "silent"],
                   help="on a request of the newer revision")
    p.add_argument("--versions", action="append",
                   help="speaks these, and no other")
    p.add_argument("--ttl", type=int, default=60000)
    p.add_argument("--log")
    server = Server(p.parse_args())
    for line in sys.stdin:
        server.take(json.loads(line))


if __name__ == "__main__":
    try:
        main()
    except (BrokenPipeError, KeyboardInterrupt):
        os._exit(0)
