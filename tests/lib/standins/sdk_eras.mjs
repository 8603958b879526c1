// SPDX-License-Identifier: ISC
// Uses tools of a session with an official SDK, as an agent does:
// sdk_eras.mjs MODULES MODE BRIDGE SOCKET NAME... MODE is v1, or how version 2 agrees
// on a revision: legacy, auto, or a revision. For each NAME it calls NAME__echo,
// and asks NAME__ask to put a question to the person. Prints {"revision": its
// revision, "tools": [names], "said": {tool: text}} or {"error": text}.
import { pathToFileURL } from "node:url";

const [modules, mode, bridge, socket, ...names] = process.argv.slice(2);
const at = (path) => import(pathToFileURL(
  `${modules}/@modelcontextprotocol/${path}`));
const v1 = mode === "v1";
const { Client } = await at(v1 ? "sdk/dist/esm/client/index.js"
  : "client/dist/index.mjs");
const { StdioClientTransport } = await at(v1 ? "sdk/dist/esm/client/stdio.js"
  : "client/dist/stdio.mjs");
const negotiation = ["legacy", "auto"].includes(mode) ? mode : { pin: mode };
const client = new Client({ name: "sdk", version: "1" },
  v1 ? {} : { versionNegotiation: { mode: negotiation } });
const out = { said: {} };
const say = (r) => r.content.map((c) => c.text).join("");
try {
  await client.connect(new StdioClientTransport({
    command: bridge, args: ["stdio", socket] }));
  out.revision = v1 ? undefined : client.getNegotiatedProtocolVersion?.();
  out.tools = (await client.listTools()).tools.map((t) => t.name);
  for (const name of names) {
    for (const [tool, args] of [["echo", { text: `I-am-${name}` }],
      ["ask", { kinds: ["seat"] }]])
      out.said[`${name}__${tool}`] = say(await client.callTool({
        name: `${name}__${tool}`, arguments: args }));
  }
} catch (e) {
  out.error = String(e);
}
console.log(JSON.stringify(out));
await client.close();
