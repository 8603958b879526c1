// SPDX-License-Identifier: ISC
// Prints the status that each of Node's own clients gets for a URL, or why
// there is none: `node node_fetch.js URL`.
'use strict';
const https = require('node:https');
const url = process.argv[2];

async function main() {
  try {
    console.log('fetch', (await fetch(url)).status);
  } catch (e) {
    console.log('fetch', (e.cause || e).message);
  }
  https.get(url, (r) => {
    r.resume();
    console.log('https', r.statusCode);
  }).on('error', (e) => console.log('https', e.message));
}

main();
