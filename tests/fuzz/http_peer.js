// SPDX-License-Identifier: ISC
// Reads HTTP/1.1 messages with Node's own parser, llhttp, for http_peer.py:
// standard input and output are those of http_peer.c. "bad" has its reason.
'use strict';
process.removeAllListeners('warning');
const { HTTPParser, methods, allMethods } = process.binding('http_parser');
const on = { headers: HTTPParser.kOnHeaders | 0, complete: HTTPParser.kOnHeadersComplete | 0,
  body: HTTPParser.kOnBody | 0, end: HTTPParser.kOnMessageComplete | 0 };

const hex = (s) => Buffer.from(s, 'latin1').toString('hex');

function read(request, bytes) {
  const parser = new HTTPParser();
  const got = { headers: [], body: [], ends: 0 };
  parser.initialize(request ? HTTPParser.REQUEST : HTTPParser.RESPONSE, {}, 1 << 20, 0);
  parser[on.headers] = (headers, url) => {
    if (!got.head) { got.headers.push(...headers); got.url = (got.url || '') + url; }
  };
  parser[on.complete] = (major, minor, headers, method, url, status, message, upgrade) => {
    if (got.ends === 0) {
      got.head = { method: (allMethods || methods)[method] || '', status, upgrade };
      if (headers) got.headers.push(...headers);
      if (url !== undefined) got.url = url;
    }
    return 0;
  };
  parser[on.body] = (piece) => { if (got.ends === 0) got.body.push(Buffer.from(piece)); };
  parser[on.end] = () => { got.ends++; };
  const said = parser.execute(bytes);
  got.error = said instanceof Error ? said.code || said.message : null;
  return got;
}

function line(request, bytes) {
  const got = read(request, bytes);
  if (!got.head) return got.error ? 'bad ' + got.error : 'more';
  const h = got.headers;
  let text = 'ok ' + (request ? hex(got.head.method) + ' ' + hex(got.url) : got.head.status + ' -') + ' ';
  for (let i = 0; i < h.length; i += 2) text += hex(h[i]) + ':' + hex(h[i + 1]) + ',';
  const end = got.ends > 0 ? 'done' : got.error ? 'bad' : 'open';
  return text + ' ' + Buffer.concat(got.body).toString('hex') + ' ' + end +
    (got.head.upgrade ? ' upgrade' : '');
}

const input = require('fs').readFileSync(0);
const out = [];
for (let at = 0; at < input.length;) {
  const len = input.readUInt32BE(at + 1);
  out.push(line(input[at] === 0x51, input.subarray(at + 5, at + 5 + len)));
  at += 5 + len;
}
require('fs').writeSync(1, out.join('\n') + '\n');
