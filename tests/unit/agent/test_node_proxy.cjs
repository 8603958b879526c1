// SPDX-License-Identifier: ISC
// Programs of Node that load docker/node/proxy.cjs: each way to fetch() asks the
// proxy, in whatever order the library behind it is loaded, and a program that
// fetches nothing does not load it.
'use strict';
const {spawn} = require('node:child_process');
const http = require('node:http');

const KEY = 'const key = Symbol.for("undici.globalDispatcher.1");';
const GET = 'fetch("https://example.org/").catch(() => {});';
const cases = [
  ['fetch()', GET, true],
  ['fetch() after a Request in the same turn',
    `new Request("http://x/"); ${GET}`, true],
  ['fetch() after Headers of an earlier turn',
    `new Headers(); setTimeout(() => ${GET.slice(0, -1)}, 1)`, true],
  ['a library that looks for the object', `${KEY} globalThis[key].dispatch({
    origin: "https://example.org", path: "/", method: "GET"}, {
    onConnect() {}, onHeaders() {}, onData() {}, onComplete() {}, onError() {}})`,
    true],
  ['https', 'require("https").get("https://example.org/").on("error", () => {})',
    true],
  ['an object of the program', `${KEY} Object.defineProperty(globalThis, key, {
    value: {dispatch() { throw new Error("own"); }}}); ${GET}`, false],
  ['a fetch() of the program', `globalThis.fetch = async () => {}; ${GET}`,
    false],
];
const loaded = 'process.exit(process.moduleLoadList.some((name) =>' +
  ' name.includes("deps/undici")) && !("WebSocket" in globalThis) ? 1 : 0)';
let asked = [];

const proxy = http.createServer();
proxy.on('connect', (request, socket) => {
  asked.push(request.url);
  socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
});

function run(script) {
  return new Promise((done) => {
    const child = spawn(process.execPath,
      ['--require', process.argv[2], '-e', script], {
        env: {PATH: process.env.PATH, NODE_USE_ENV_PROXY: '0',
          HTTPS_PROXY: `http://127.0.0.1:${proxy.address().port}`},
        stdio: ['ignore', 'ignore', 'pipe']});
    let said = '';
    child.stderr.on('data', (more) => { said += more; });
    child.on('close', (code) => done([code, said]));
  });
}

proxy.listen(0, '127.0.0.1', async () => {
  let n = 0, bad = 0;
  const ok = (good, what, why) => {
    bad += !good;
    console.log(`${good ? '' : 'not '}ok ${++n} - ${what}`);
    if (!good)
      console.log(`# ${why}`);
  };

  for (const [what, script, asks] of cases) {
    asked = [];
    const [code, said] = await run(script);
    ok(code === 0 && said === '' &&
      asked.join() === (asks ? 'example.org:443' : ''),
      `${what}: ${asks ? 'asks the proxy' : 'stays its own'}`,
      `${code} ${said} ${asked}`);
  }
  const [code, said] = await run(loaded);
  ok(code === 0, 'a program that fetches nothing does not load fetch()', said);
  console.log(`1..${n}`);
  proxy.close();
  process.exitCode = bad ? 1 : 0;
});
