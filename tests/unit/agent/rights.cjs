// SPDX-License-Identifier: ISC
// Tries what the process of code mode has no right to do, as if its program had
// left the context: without node's own permission model. Sends one value of
// lines NAME=DONE or NAME=reason in a frame on descriptor 3.
'use strict';
const cp = require('child_process');
const dgram = require('dgram');
const fs = require('fs');
const net = require('net');
const os = require('os');

const dir = `/tmp/ic-code-${process.pid}`;
const file = `${dir}.file`;
const lines = [];

async function attempt(name, what) {
  try {
    await what();
    lines.push(`${name}=DONE`);
  } catch (e) {
    lines.push(`${name}=${e.code || e.message}`);
  }
}

function ran(result) {
  if (result.error)
    throw result.error;
}

function listening(server, ...where) {
  return new Promise((done, failed) => {
    server.on('error', failed);
    server.listen(...where, () => server.close(done));
  });
}

function bound(socket) {
  return new Promise((done, failed) => {
    socket.on('error', failed);
    socket.bind(0, '127.0.0.1', () => socket.close(done));
  });
}

async function main() {
  await attempt('read', () => fs.readFileSync('/etc/passwd'));
  await attempt('list', () => fs.readdirSync('/'));
  await attempt('environment', () => fs.readFileSync('/proc/self/environ'));
  await attempt('memory', () => fs.closeSync(fs.openSync('/proc/self/mem', 'r+')));
  await attempt('parent', () => fs.readFileSync(`/proc/${process.ppid}/status`));
  await attempt('mkdir', () => fs.mkdirSync(dir, {recursive: false}));
  await attempt('write', () => fs.writeFileSync(file, 'x'));
  await attempt('append', () => fs.appendFileSync(file, 'x'));
  await attempt('chmod', () => fs.chmodSync(file, 0o777));
  await attempt('utimes', () => fs.utimesSync(file, 0, 0));
  await attempt('truncate', () => fs.truncateSync(file, 0));
  await attempt('link', () => fs.linkSync(file, `${file}.2`));
  await attempt('symlink', () => fs.symlinkSync('/etc', `${file}.3`));
  await attempt('rename', () => fs.renameSync(`${file}.2`, `${file}.4`));
  await attempt('watch', () => fs.watch('/tmp').close());
  await attempt('socket file', () => listening(net.createServer(), `${dir}.s`));
  await attempt('unlink', () => fs.unlinkSync(file));
  for (const end of ['.file.3', '.file.4'])
    fs.rmSync(dir + end, {force: true});
  await attempt('rmdir', () => fs.rmdirSync(dir));
  await attempt('tcp', () => listening(net.createServer(), 0, '127.0.0.1'));
  await attempt('udp', () => bound(dgram.createSocket('udp4')));
  await attempt('command', () => ran(cp.spawnSync('/bin/true')));
  await attempt('node again', () => ran(cp.spawnSync(process.execPath, ['-v'])));
  await attempt('shell', () => cp.execSync('true', {stdio: 'ignore'}));
  await attempt('signal', () => process.kill(process.ppid, 0));
  await attempt('signal to itself', () => process.kill(process.pid, 0));
  await attempt('priority', () => os.setPriority(process.pid, 5));
  await attempt('eval', () => new Function('return 1')());
  await attempt('machine code', () => new WebAssembly.Module(
    new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])));
}

function send(letter, text) {
  const body = Buffer.from(text);
  const head = Buffer.alloc(5);
  head.write(letter);
  head.writeUInt32LE(body.length, 1);
  fs.writeSync(3, Buffer.concat([head, body]));
}

main().then(() => {
  send('V', `\n${lines.join('\n')}\n`);
  send('D', '');
});
