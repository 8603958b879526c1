// SPDX-License-Identifier: ISC
// Sends the HTTPS of a Node program through the proxy of its sandbox, which has
// no other network. Node up to 22.20 ignores HTTPS_PROXY, and a newer one heeds
// it only if told so, and then not for agents that a program makes itself.
// Where NODE_USE_ENV_PROXY is set and Node knows it, nothing is changed. The
// sandbox itself is reached directly. The file is read-only in the sandbox and
// protects nothing: the proxy decides.
'use strict';

// Deno knows the proxy by itself, and asks its user before a file like this one
// may read a variable.
const at = globalThis.Deno ? undefined : process.env.HTTPS_PROXY;
const knows = at && process.env.NODE_USE_ENV_PROXY === '1' &&
  process.allowedNodeEnvironmentFlags.has('--use-env-proxy');

if (at && !knows)
  install(new URL(at));
if (at)
  npm(process.argv.slice(1));

// `npm install --global` writes beside the program node, which is read-only
// here. It gets a directory of the agent's home, which is in PATH. The variable
// is set for npm alone and not in the sandbox: nvm refuses to work with it. A
// prefix that is configured stays.
function npm([program, ...words]) {
  const fs = require('node:fs');
  const path = require('node:path');
  const env = process.env;
  const known = (name) => Object.keys(env).some((key) =>
    key.toLowerCase() === `npm_config_${name}`);

  if (!/^npm(-cli\.js)?$/.test(path.basename(program ?? '')) || !env.HOME ||
      env.PREFIX || known('prefix') || !words.some((word) =>
        /^(-\w*g|--global(=true)?|--location=global|ln|link)$/.test(word)))
    return;
  const usual = path.dirname(path.dirname(process.execPath));
  try {
    fs.accessSync(path.join(usual, 'lib/node_modules'), fs.constants.W_OK);
    return;
  } catch {
    // It is read-only, or not there.
  }
  env.PREFIX = path.join(env.HOME, '.npm-global');
  // npm looks for this file below the prefix.
  if (!known('globalconfig'))
    env.npm_config_globalconfig = path.join(usual, 'etc/npmrc');
}

function install(proxy) {
  const http = require('node:http');
  const https = require('node:https');
  const net = require('node:net');
  const tls = require('node:tls');
  const own = new Set(['localhost', 'ironcurtain', 'ip6-localhost',
    'ip6-loopback', '::1', '0.0.0.0', '::']);

  function bare(host) {
    return host.replace(/^\[(.*)\]$/, '$1');
  }

  // NO_PROXY of a sandbox without network of its own is empty.
  function isOwn(host) {
    return process.env.NO_PROXY !== '' && (own.has(bare(host).toLowerCase()) ||
      /^127\.[0-9.]+$/.test(host) || /\.localhost$/i.test(host));
  }

  // Calls done(error, socket), with TLS to the host on the socket.
  function tunnel(options, done) {
    const host = bare(options.hostname || options.host);
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

  // Calls done(error, socket) for a connection of fetch() without a proxy.
  function direct(options, done) {
    const secure = options.protocol === 'https:';
    const host = bare(options.hostname);
    const socket = (secure ? tls : net).connect({host,
      port: options.port || (secure ? 443 : 80), autoSelectFamily: true,
      ...(secure && {servername: options.servername || host,
        ALPNProtocols: ['http/1.1']})});

    socket.once('error', done);
    socket.once(secure ? 'secureConnect' : 'connect', () => {
      socket.off('error', done);
      done(null, socket);
    });
  }

  const create = https.Agent.prototype.createConnection;
  https.Agent.prototype.createConnection = function(options, done) {
    const host = options?.hostname || options?.host;
    if (typeof host !== 'string' || typeof done !== 'function' ||
        options.socket || options.socketPath || isOwn(host))
      return create.apply(this, arguments);
    tunnel(options, done);
  };

  // Some libraries send the whole https URL to the proxy, as if it was http.
  const request = http.request;
  http.request = function(options, ...rest) {
    if (typeof options?.path !== 'string' ||
        !options.path.startsWith('https://') ||
        String(options.port) !== proxy.port ||
        (options.hostname || options.host) !== proxy.hostname)
      return request.call(this, options, ...rest);
    const url = new URL(options.path);
    return https.request({...options, protocol: 'https:', host: url.hostname,
      hostname: url.hostname, port: url.port || 443, servername: undefined,
      path: url.pathname + url.search, agent: options.agents?.https,
    }, ...rest);
  };
  require('node:module').syncBuiltinESMExports();

  // What fetch() connects with, once the library of Node that has it is loaded.
  later((Agent) => new Agent({
    connect: (options, done) =>
      options.protocol === 'https:' && !isOwn(options.hostname)
        ? tunnel({...options, ALPNProtocols: ['http/1.1']}, done)
        : direct(options, done),
  }));
}

// Puts make(Agent) where fetch() and the library undici look for the object by
// which they connect: at the symbol that undici publishes for this. Loading the
// library takes half as long as Node's own start, so that this waits until a
// program uses it; but not where Node has WebSocket, which reads the symbol
// while it is loaded.
function later(make) {
  const key = Symbol.for('undici.globalDispatcher.1');
  const {fetch} = globalThis;

  if (typeof fetch !== 'function' || globalThis[key])
    return;

  // The library is just being loaded, for another class of it.
  let early = false;

  function load() {
    const again = early;

    early = false;
    try {
      void fetch('data:,').catch(() => {});
      const Agent = globalThis[key].constructor;
      // Node 24.0 to 24.4 have another class here if they know the proxy.
      if (Agent.name === 'Agent')
        globalThis[key] = make(Agent);
    } catch {
      if (again)
        return;
      early = true;
      queueMicrotask(need);
    }
  }

  // A program may have put an object of its own there.
  function need() {
    if (early) {
      load();
    } else if (Object.getOwnPropertyDescriptor(globalThis, key)?.get === get) {
      delete globalThis[key];
      load();
    }
  }

  function get() {
    need();
    return globalThis[key];
  }

  function put(value) {
    Object.defineProperty(globalThis, key,
      {value, writable: true, configurable: true});
  }

  if ('WebSocket' in globalThis) {
    load();
    return;
  }
  Object.defineProperty(globalThis, key, {get, set: put, configurable: true});
  globalThis.fetch = function(input, init = undefined) {
    need();
    return fetch(input, init);
  };
  Object.defineProperty(globalThis.fetch, 'name', {value: 'fetch'});
}
