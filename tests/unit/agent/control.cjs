// SPDX-License-Identifier: ISC
// The control of the escapes: runs each program of a file where it is known to
// succeed, and prints its name and either ESCAPED or the reason why not.
const fs = require('fs');
const util = require('util');
const vm = require('vm');

const AsyncFunction = (async () => {}).constructor;
const rows = fs.readFileSync(process.argv[2], 'utf8').split(/^=== /m).slice(1);
const bridge = () => '';
const front = fs.readFileSync(process.argv[3], 'utf8');

// A stub does some work before it answers.
function deep(n) {
  return n === 0 ? '' : deep(n - 1);
}

function naive(logs) {
  return vm.createContext({
    console: {log: (...args) => { logs.push(util.format(...args)); }},
    fs: {
      read_file: function (args) { return deep(40) + util.format('%s', args.path); },
      fail: () => { throw new Error('DENIED: no'); },
      json: () => ({list: [1]}),
    },
    help: {help: () => ''},
  });
}

function start(place, code, logs, require) {
  const text = `(async () => {\n${code}\n})`;
  if (place === 'vm')
    return vm.runInContext(text, naive(logs))();
  if (place === 'node')
    return new AsyncFunction('require', 'module', code)(require, module);
  const console = {log: (...args) => { logs.push(args.join(' ')); }};
  return eval(text)();
}

async function main() {
  for (const row of rows) {
    const [, place, name, code] = /^(\w+): (.*)\n([^]*)$/.exec(row);
    const logs = [];
    let text;
    try {
      text = String(await start(place, front + code, logs, require));
    } catch (e) {
      text = `error: ${e && e.message}`;
    }
    text += logs.join(' ');
    process.stdout.write(`\n${name}\t${text.includes('ESCAPED') ? 'ESCAPED' :
      text.slice(0, 200).replace(/\n/g, ' ')}\n`);
  }
}

process.on('unhandledRejection', () => {});
main().then(() => process.exit(0));
