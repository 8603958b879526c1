// SPDX-License-Identifier: ISC
// Lists the tools of a session with the official SDK, as an agent does:
// sdk_list.mjs SDK BRIDGE SOCKET. Prints {"tools": [names]} or {"error": text}.
import { pathToFileURL } from "node:url";

const [sdk, bridge, socket] = process.argv.slice(2);
const at = (path) => import(pathToFileURL(`${sdk}/dist/esm/client/${path}`));
const { Client } = await at("index.js");
const { StdioClientTransport } = await at("stdio.js");
const client = new Client({ name: "sdk", version: "1" });
let out;
try {
  await client.connect(new StdioClientTransport({
    command: bridge, args: ["stdio", socket] }));
  const { tools } = await client.listTools();
  out = { tools: tools.map((t) => t.name) };
} catch (e) {
  out = { error: String(e) };
}
console.log(JSON.stringify(out));
await client.close();
