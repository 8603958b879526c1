# SPDX-License-Identifier: ISC
"""An orchestrator's driver in the shape of the ContainerDriver that the project
was founded with: execute_agentic() yields messages, generate() returns an
answer or an instance of a schema's class, get_usage() the usage of the last
request, and failures are exceptions.  It speaks to `icctl driver --messages
amelia`, and shares no code with the product."""
import asyncio
import itertools
import json

TYPES = ("thinking", "tool_call", "tool_result", "result", "usage")
KEYS = {"id", "type", "content", "tool_name", "tool_input", "tool_output",
        "tool_call_id", "session_id", "is_error", "model", "usage",
        "reported"}
USAGE = {"input_tokens", "output_tokens", "cache_read_tokens",
         "cache_creation_tokens", "cost_usd", "duration_ms", "num_turns",
         "model"}


class Failed(RuntimeError):
    """An infrastructure error."""

    def __init__(self, code, status, text):
        super().__init__(f"{code}: {text}")
        self.code, self.status, self.text = code, status, text


class Orchestrator:
    """One `icctl driver`, whose lines go to the requests that they name."""

    def __init__(self, argv, env, cwd):
        self.argv, self.env, self.cwd = argv, env, cwd
        self.queues = {}
        self.strange = []       # lines without a request
        self.numbers = itertools.count(1)

    async def __aenter__(self):
        self.p = await asyncio.create_subprocess_exec(
            *self.argv, env=self.env, cwd=self.cwd, limit=1 << 27,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE)
        self.reader = asyncio.create_task(self.read())
        self.said = asyncio.create_task(self.p.stderr.read())
        return self

    async def __aexit__(self, *_):
        if not self.p.stdin.is_closing():
            self.p.stdin.close()
        await self.p.wait()
        await self.reader
        self.stderr = (await self.said).decode()

    async def read(self):
        async for line in self.p.stdout:
            o = json.loads(line)
            queue = self.queues.get(o["id"])
            if queue is None:
                self.strange.append(o)
            else:
                await queue.put(o)
        for queue in self.queues.values():
            await queue.put(None)

    async def write(self, line):
        if isinstance(line, dict):
            line = json.dumps(line)
        self.p.stdin.write(line.encode() + b"\n")
        await self.p.stdin.drain()

    async def cancel(self, number):
        await self.write({"cancel": number})

    async def stream(self, request, line=None):
        """Yields the messages of a request, up to its result or error."""
        number = f"r{next(self.numbers)}" if line is None else request["id"]
        queue = self.queues[number] = asyncio.Queue()
        await self.write({"id": number, **request} if line is None else line)
        while True:
            o = await queue.get()
            if o is None:
                raise Failed("DRIVER_GONE", 0, "the driver ended")
            yield o
            if o["type"] in ("result", "error"):
                break


class ContainerDriver:
    def __init__(self, orchestrator, model=None):
        self.orchestrator, self.model = orchestrator, model
        self.usage = None
        self.order = []         # types, as they came
        self.last = None        # the last message

    async def messages(self, request, line=None):
        self.usage, self.order = None, []
        if self.model:
            request["model"] = self.model
        async for o in self.orchestrator.stream(request, line):
            self.order.append(o["type"])
            self.last = o
            if o["type"] == "error":
                kind = ValueError if o["code"] == "EMPTY_PROMPT" else None
                if kind:
                    raise kind(o["content"])
                raise Failed(o["code"], o["status"], o["content"])
            if o["type"] not in TYPES or set(o) - KEYS:
                raise RuntimeError(f"Invalid AgenticMessage: {str(o)[:200]}")
            if o["type"] == "usage":
                if set(o["usage"]) != USAGE:
                    raise RuntimeError(f"Invalid usage: {o}")
                self.usage = o["usage"]
            else:
                yield o

    async def execute_agentic(self, prompt, cwd=None, instructions=None,
                              allowed_tools=None, **more):
        request = {"mode": "agentic", "prompt": prompt, **more}
        for key, value in (("cwd", cwd), ("instructions", instructions),
                           ("allowed_tools", allowed_tools)):
            if value is not None:
                request[key] = value
        async for o in self.messages(request):
            yield o

    async def generate(self, prompt, system_prompt=None, schema=None, **more):
        """schema: a class with model_json_schema() and model_validate_json(),
        as Pydantic's are."""
        request = {"mode": "generate", "prompt": prompt, **more}
        if system_prompt:
            request["instructions"] = system_prompt
        if schema:
            request["schema"] = schema.model_json_schema()
        async for o in self.messages(request):
            if o["type"] == "result":
                if o["is_error"]:
                    raise RuntimeError(o["content"])
                if schema:
                    return schema.model_validate_json(o["content"])
                return o["content"]
        raise RuntimeError("Worker did not emit a RESULT message")

    def get_usage(self):
        return self.usage
