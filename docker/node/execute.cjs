// SPDX-License-Identifier: ISC
// Runs one program of the model for the built-in agent: node -e THIS, behind
// types.cjs, with a socket to the agent as descriptor 3. The program is evaluated in a fresh
// context of node:vm that has the language, console, help and the stubs of the
// tools, and nothing of Node. A context is no security boundary: the sandbox
// around the agent is one, and docker/agent/code_child.c takes from this
// process the rights that it does not need. The context is kept tight
// nevertheless:
// - No object of this realm is reachable there. The one function that crosses
//   is a local of prelude(); it takes and returns strings.
// - Errors there have no stack: Node formats a stack in this realm, and an
//   overflow while it does so would hand out an error of this realm.
// - import() would return a promise of this realm; see guard().
// - Strings are no code, neither there nor here.
'use strict';

const CHANNEL = 3;
const CHUNK = 16384; // characters of a text in one frame
const ARGUMENTS_MAX = 4 << 20;

const {readSync, writeSync} = require('node:fs');
const {Script, createContext} = require('node:vm');
const exit = process.reallyExit.bind(process);
const on = process.on.bind(process);
const once = process.once.bind(process);
const {allocUnsafe, byteLength, from} = Buffer;
const {parse} = JSON;
const create = Object.create;
const {deleteProperty} = Reflect;

let busy = false;

// A frame is a letter, the length in four bytes, and UTF-8.
function send(letter, text) {
  const body = from(text, 'utf8');
  const frame = allocUnsafe(5 + body.length);

  frame.write(letter, 0, 'latin1');
  frame.writeUInt32LE(body.length, 1);
  body.copy(frame, 5);
  for (let at = 0; at < frame.length;)
    at += writeSync(CHANNEL, frame, at, frame.length - at);
}

function take(length) {
  const bytes = allocUnsafe(length);

  for (let at = 0, n; at < length; at += n)
    if ((n = readSync(CHANNEL, bytes, at, length - at, null)) === 0)
      exit(4); // the agent is gone
  return bytes;
}

function receive() {
  const head = take(5);
  return head.toString('latin1', 0, 1) +
    take(head.readUInt32LE(1)).toString('utf8');
}

function sendChunks(letter, text) {
  for (let at = 0, end; at < text.length; at = end) {
    end = at + CHUNK;
    const last = text.charCodeAt(end - 1);
    if (last >= 0xd800 && last < 0xdc00)
      end--; // not within a pair
    send(letter, text.slice(at, end));
  }
}

function finish(letter, text) {
  sendChunks('F', text);
  send(letter, '');
  exit(0);
}

// Overflows here rather than in the middle of a frame.
function deep(n) {
  return n === 0 ? 0 : deep(n - 1) + 1;
}

// The only way out of the context. `request` is a letter and a text; the result
// is a text. An exception here is one of this realm: prelude() drops it.
function bridge(request) {
  if (typeof request !== 'string')
    return 'eno request';
  deep(200);
  if (busy)
    exit(3); // it was left within a frame
  busy = true;
  const text = request.slice(1);
  let answer = '';
  switch (request[0]) {
  case 'L':
  case 'V':
    sendChunks(request[0], text);
    break;
  case 'C':
    if (byteLength(text) > ARGUMENTS_MAX) {
      answer = 'ethe arguments are longer than 4 MiB';
      break;
    }
    send('C', text);
    answer = receive();
    break;
  case 'D':
  case 'E':
    finish(request[0], text);
  }
  busy = false;
  return answer;
}

// Evaluated in the context: see above. `table` is the text of the stubs.
function prelude(bridge, table) {
  'use strict';
  const {parse, stringify} = JSON;
  const {create, defineProperty, freeze, fromEntries} = Object;
  const {isArray} = Array;
  const absent = new RegExp('^(require|process|module|exports|global|fetch|set' +
    '(Timeout|Interval|Immediate)|queueMicrotask|structuredClone|Buffer|URL' +
    '(SearchParams)?|Text(En|De)coder|performance|crypto) is not defined');
  const names = new Map();
  const servers = parse(table);

  for (const name of ['Atomics', 'FinalizationRegistry', 'SharedArrayBuffer',
    'WeakRef', 'WebAssembly', 'console', 'ShadowRealm'])
    delete globalThis[name];
  delete Error.captureStackTrace;
  delete Error.stackTraceLimit;
  freeze(Error);

  class ToolError extends Error {
    constructor(text, tool) {
      super(text);
      defineProperty(this, 'name', {value: 'ToolError'});
      defineProperty(this, 'tool', {value: tool, enumerable: true});
    }
  }

  function ask(request) {
    try {
      return bridge(request);
    } catch {
      // The exception is the other realm's.
    }
    throw new RangeError('the stack is too deep to leave the program');
  }

  // JSON of anything: also of cycles, maps, errors and functions.
  function json(value) {
    const open = [];

    return stringify(value, function (key, item) {
      while (open.length > 0 && open[open.length - 1].shown !== this)
        open.length--;
      switch (typeof item) {
      case 'bigint':
      case 'symbol':
        return String(item);
      case 'function':
        return `[function ${item.name}]`;
      case 'number':
        return item - item === 0 ? item : String(item);
      case 'object':
        break;
      default:
        return item;
      }
      if (item === null)
        return item;
      for (let i = 0; i < open.length; i++)
        if (open[i].item === item)
          return '[circular]';
      let shown = item;
      if (item instanceof Map)
        shown = [...item.keys()].every((k) => typeof k === 'string') ?
          fromEntries(item) : [...item];
      else if (item instanceof Set)
        shown = [...item];
      else if (item instanceof Error)
        shown = {name: item.name, message: item.message, ...item};
      else if (item instanceof Promise)
        shown = '[promise]';
      open[open.length] = {item, shown};
      return shown;
    });
  }

  function shown(value) {
    return typeof value === 'string' ? value : String(json(value));
  }

  function format(args) {
    let used = 0;
    let text = '';

    if (typeof args[0] === 'string' && args.length > 1) {
      used = 1;
      text = args[0].replace(/%([sdifjoO%])/g, (all, letter) => {
        if (letter === '%')
          return '%';
        if (used >= args.length)
          return all;
        const item = args[used++];
        if (letter === 'd' || letter === 'f')
          return String(Number(item));
        return letter === 'i' ? String(Math.trunc(item)) : shown(item);
      });
      if (used < args.length)
        text += ' ';
    }
    return text + args.slice(used).map(shown).join(' ');
  }

  function log(...args) {
    ask('L' + format(args) + '\n');
  }

  function why(e) {
    try {
      if (e instanceof ToolError)
        return `${e.tool}: ${e.message}`;
      if (!(e instanceof Error))
        return shown(e);
      const name = String(e.name);
      const text = String(e.message);
      if (name === 'Error' && text !== '')
        return text;
      if (name === 'ReferenceError' && absent.test(text))
        return `${name}: ${text}: a program has its tools and the language only`;
      return text === '' ? name : `${name}: ${text}`;
    } catch {
      return 'an error that cannot be shown';
    }
  }

  // Returns the text of a schema as a type of TypeScript.
  function type(schema, depth = 0) {
    if (typeof schema !== 'object' || schema === null || depth > 5)
      return 'unknown';
    const under = (one) => type(one, depth + 1);
    if ('const' in schema)
      return json(schema.const);
    if (isArray(schema.enum))
      return schema.enum.slice(0, 40).map(json).join(' | ') || 'never';
    for (const key of ['anyOf', 'oneOf'])
      if (isArray(schema[key]))
        return schema[key].map(under).join(' | ');
    if (isArray(schema.type))
      return schema.type.map((t) => under({...schema, type: t})).join(' | ');
    switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type;
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return `Array<${under(schema.items)}>`;
    case 'object':
      return schema.properties ? fields(schema, depth) : 'object';
    }
    return schema.properties ? fields(schema, depth) : 'unknown';
  }

  function fields(schema, depth) {
    const needed = isArray(schema.required) ? schema.required : [];
    const out = [];

    for (const [key, one] of Object.entries(schema.properties ?? {}))
      out.push((/^[A-Za-z_$][\w$]*$/.test(key) ? key : json(key)) +
        (needed.includes(key) ? '' : '?') + ': ' + type(one, depth + 1));
    return out.length === 0 ? '{}' : `{${out.join(', ')}}`;
  }

  function line(tool) {
    const first = tool.description.split('\n', 1)[0].slice(0, 160);
    return `${tool.call}(${fields(tool.schema, 0)})` +
      (first === '' ? '' : `  ${first}`);
  }

  function whole(tool) {
    const out = [];

    for (const [key, one] of Object.entries(tool.schema.properties ?? {}))
      if (one !== null && typeof one.description === 'string')
        out.push(`  ${key}: ${one.description}`);
    return [`${tool.call}(${fields(tool.schema, 0)})`, tool.description,
      ...out].filter((one) => one !== '').join('\n');
  }

  // help.help() lists the servers, help.help(server) its tools, and
  // help.help("server.tool") shows one tool.
  function help(name) {
    if (name === undefined)
      return servers.map((s) => `${s.global}: ${s.tools.length} tool` +
        `${s.tools.length === 1 ? '' : 's'}`).join('\n') +
        '\nhelp.help("SERVER") lists the tools of one.';
    const at = names.get(String(name));
    if (at === undefined)
      throw new Error(`nothing is named ${json(String(name))}; the servers ` +
        `are: ${servers.map((s) => s.global).join(', ') || '(none)'}`);
    return at.tools ? at.tools.map(line).join('\n') : whole(at);
  }

  function toolInterface(name) {
    const at = names.get(String(name));
    if (at === undefined || at.tools)
      throw new Error(`no tool is named ${json(String(name))}`);
    return `interface Arguments ${fields(at.schema, 0)}\n` +
      `${at.call}(args: Arguments): unknown`;
  }

  function fixed(value) {
    return {value, enumerable: true};
  }

  function stub(tool) {
    function call(args) {
      if (args === undefined)
        args = {};
      if (typeof args !== 'object' || args === null || isArray(args))
        throw new TypeError(`${tool.call} takes one object: ` +
          `${tool.call}(${fields(tool.schema, 0)})`);
      const text = stringify(args);
      if (typeof text !== 'string' || text[0] !== '{')
        throw new TypeError(`${tool.call} takes one object`);
      const answer = ask('C' + tool.index + '\n' + text);
      if (answer[0] !== 'o')
        throw new ToolError(answer.slice(1), tool.call);
      return answer.slice(1);
    }
    const parsed = (args) => {
      const text = call(args);
      if (text[0] === '{' || text[0] === '[') {
        try {
          return parse(text);
        } catch {
          // It only looks like JSON.
        }
      }
      return text;
    };
    defineProperty(parsed, 'text', fixed(freeze((args) => call(args))));
    return freeze(parsed);
  }

  for (const server of servers) {
    const object = create(null);
    for (const tool of server.tools) {
      const value = fixed(stub(tool));
      for (const name of tool.names) {
        defineProperty(object, name, value);
        for (const of of [server.global, server.server])
          if (!names.has(`${of}.${name}`))
            names.set(`${of}.${name}`, tool);
      }
      if (!names.has(tool.call))
        names.set(tool.call, tool);
    }
    defineProperty(globalThis, server.global, fixed(freeze(object)));
    if (!(server.server in globalThis))
      defineProperty(globalThis, server.server, fixed(object));
  }
  for (const server of servers) {
    names.set(server.server, server);
    names.set(server.global, server);
  }
  const nothing = () => undefined;
  const console = {assert: (ok, ...args) => ok || log('Assertion failed', ...args)};
  for (const name of ['log', 'info', 'warn', 'error', 'debug', 'trace', 'dir',
    'table', 'group'])
    console[name] = log;
  for (const name of ['groupEnd', 'time', 'timeEnd', 'timeLog', 'count',
    'countReset', 'clear'])
    console[name] = nothing;
  defineProperty(globalThis, 'console', {value: console, writable: true,
    configurable: true});
  defineProperty(globalThis, 'help', {value: freeze({help})});
  defineProperty(globalThis, '__getToolInterface', {value: toolInterface});

  let settled = false;
  let failed = false;
  let value;
  return {
    async start(program) {
      try {
        value = await program();
      } catch (e) {
        failed = true;
        value = e;
      }
      settled = true;
    },
    // A promise failed and nothing waits for it.
    unheard(e) {
      if (!failed) {
        failed = settled = true;
        value = e;
      }
    },
    // Nothing is left to run.
    end() {
      try {
        if (failed)
          ask('E' + why(value));
        if (!settled)
          ask('Ethe program waits for a promise that never settles');
        const text = json(value);
        if (text !== undefined)
          ask('V' + text);
      } catch (e) {
        ask('E' + why(e));
      }
      ask('D');
    },
  };
}

// A program's text is all of its code, and a keyword may hold no escape: with
// this one, `import` stays what it is in names, strings and patterns, and is a
// syntax error as a keyword.
function guard(code) {
  return code.replaceAll('import', 'imp\\u006frt');
}

function wrap(code) {
  return `(async () => {\n${code}\n})`;
}

function syntax(e) {
  const line = /^program:(\d+)/.exec(e.stack);
  const imports = e.message.includes('Keyword must not contain escaped');
  const text = imports ?
    'there is no import: the program has its tools and the language only' :
    e.message;

  finish(imports ? 'E' : 'X',
    `SyntaxError: ${text}${line ? ` (line ${line[1]})` : ''}`);
}

function strip(code) {
  let text;

  try {
    text = wrap(stripTypes(code));
  } catch (e) {
    return finish('X', `SyntaxError: ${e instanceof RangeError ?
      'the program is nested too deeply' : e.message}` +
      (e.line ? ` (line ${e.line})` : ''));
  }
  finish('T', text);
}

function run(code, table) {
  const context = createContext(create(null), {
    name: 'program',
    codeGeneration: {strings: false, wasm: false},
  });
  const {start, unheard, end} =
    new Script(`(${prelude})`).runInContext(context)(bridge, table);
  let script;

  try {
    script = new Script(guard(code), {filename: 'program', lineOffset: -1});
  } catch (e) {
    return syntax(e);
  }
  // Promises that the program does not wait for run to their ends as well.
  once('exit', () => end());
  on('unhandledRejection', (e) => unheard(e));
  start(script.runInContext(context));
}

// This realm is emptied, for a program that found a way into it.
function empty() {
  for (const name of ['binding', '_linkedBinding', 'dlopen', 'kill', '_kill',
    'mainModule', '_debugProcess', 'getBuiltinModule', 'execve', 'chdir'])
    delete process[name];
  const all = globalThis;
  for (const name of Object.getOwnPropertyNames(all))
    deleteProperty(all, name);
}

const request = receive();
const program = parse(request.slice(1));

if (request[0] === 'T')
  strip(program.code);
else {
  empty();
  run(program.stripped ? program.code : wrap(program.code),
    program.table);
}
