// SPDX-License-Identifier: ISC
// Sends the HTTPS of a Node program through the proxy of its sandbox. Node up
// to 22.20 ignores HTTPS_PROXY, also with NODE_USE_ENV_PROXY, so that fetch()
// and https.request() would fail: the sandbox has no network but that proxy.
// A newer Node does this by itself, and nothing is changed there. The file is
// read-only in the sandbox and protects nothing: the proxy decides.
'use strict';

const at = process.env.HTTPS_PROXY;
const knows = process.allowedNodeEnvironmentFlags.has('--use-env-proxy');

if (at && !knows)
  install(new URL(at));

function install(proxy) {
  const http = require('node:http');
  const https = require('node:https');
  const tls = require('node:tls');

  // Calls done(error, socket), with TLS to the host on the socket.
  function connect(options, done) {
    const host = options.hostname || options.host;
    const port = options.port || 443;
    const name = options.servername || host;
    const request = http.request({
      host: proxy.hostname, port: proxy.port, method: 'CONNECT',
      path: `${host.includes(':') ? `[${host}]` : host}:${port}`,
      agent: false,
    });
    const {path, headers, method, ...rest} = options;

    request.once('error', done);
    request.once('connect', (answer, socket, head) => {
      if (answer.statusCode !== 200) {
        // The body has the reason.
        let why = head.toString();
        socket.on('data', (more) => { why += more; });
        socket.on('error', () => {});
        socket.once('close', () => done(new Error(
          `${host}:${port}: ${answer.statusCode}: ${why.trim()}`)));
        return;
      }
      const secure = tls.connect({...rest, socket, servername: name});
      secure.once('error', done);
      secure.once('secureConnect', () => {
        secure.off('error', done);
        done(null, secure);
      });
    });
    request.end();
  }

  https.globalAgent.createConnection = (options, done) => {
    connect(options, done);
  };

  // The class of fetch()'s connections is reached by the symbol that the
  // library undici publishes for this, once fetch has been loaded.
  const key = Symbol.for('undici.globalDispatcher.1');
  try {
    void globalThis.fetch('data:,').catch(() => {});
    const Agent = globalThis[key].constructor;
    // Node 24.0 to 24.4 have another class here, which knows the proxy.
    if (Agent.name === 'Agent')
      globalThis[key] = new Agent({
        connect: (options, done) => connect({...options,
          ALPNProtocols: ['http/1.1']}, done),
      });
  } catch {
    // This Node has no fetch, or another one.
  }
}
