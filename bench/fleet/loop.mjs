// The raw loop that a fleet is measured against: the same addresses by undici alone, some at a time, each answer read and parsed.
// Arguments: the file of addresses, how many at a time, and `kept` (one Agent, which keeps its connections), `agent` (a new one for
// each address) or `client` (the least that undici has for one connection).
import { readFileSync } from 'node:fs';
// Of undici only what the command has of it, too: all of it takes 0.15 s to load.
import api from 'undici/lib/api/index.js';
import Agent from 'undici/lib/dispatcher/agent.js';
import Client from 'undici/lib/dispatcher/client.js';
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';

Object.assign(Dispatcher.prototype, api);

const [file, atOnce, connections] = process.argv.slice(2);
const addresses = readFileSync(file, 'utf8').trim().split('\n');
const headers = { accept: 'application/json', 'x-session-api-key': process.env.SETPOINT_API_KEY };
const shared = connections === 'kept' ? new Agent({ connections: Number(atOnce) }) : null;
const dispatcherFor = {
  kept: () => shared,
  agent: () => new Agent(),
  client: (origin) => new Client(origin),
}[connections];
let next = 0;
let read = 0;

async function work() {
  while (next < addresses.length) {
    const { origin, pathname } = new URL(addresses[next++]);
    const dispatcher = dispatcherFor(origin);
    const path = `${pathname === '/' ? '' : pathname}/api/settings`;
    const { statusCode, body } = await dispatcher.request({ origin, path, method: 'GET', headers });
    const record = JSON.parse(await body.text());
    if (statusCode === 200 && record.language === 'en') read += 1;
    if (dispatcher !== shared) await dispatcher.close();
  }
}

await Promise.all(Array.from({ length: Number(atOnce) }, work));
await shared?.close();
if (read !== addresses.length) throw new Error(`${read} of ${addresses.length} were read`);
