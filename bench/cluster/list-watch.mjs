// The baseline: the same objects, listed in pages and then watched by undici, with nothing done about them. The arguments are the address, the
// folder of the service account, the path of the list, and how many there are. Prints `listed` when all are there, and goes on until a signal.
import { readFileSync } from 'node:fs';
import { Pool } from 'undici';

const [origin, folder, path, count] = process.argv.slice(2);
const authorization = `Bearer ${readFileSync(`${folder}/token`, 'utf8').trim()}`;
const pool = new Pool(origin, { connect: { ca: readFileSync(`${folder}/ca.crt`, 'utf8') } });
const get = (query) =>
  pool.request({
    method: 'GET',
    path: `${path}?${query}`,
    headers: { authorization },
    bodyTimeout: 0,
  });

const objects = new Map();
let [next, version] = ['', ''];
do {
  const { body } = await get(`limit=500${next && `&continue=${encodeURIComponent(next)}`}`);
  const { items, metadata } = await body.json();
  for (const item of items) objects.set(item.metadata.name, item);
  [next, version] = [metadata.continue ?? '', metadata.resourceVersion];
} while (next !== '');
if (objects.size !== Number(count)) throw new Error(`${objects.size} objects of ${count}`);
console.log('listed');

process.on('SIGTERM', () => process.exit(0));
const { body } = await get(`watch=1&allowWatchBookmarks=true&resourceVersion=${version}`);
let rest = '';
for await (const chunk of body) {
  const lines = (rest + chunk.toString()).split('\n');
  rest = lines.pop();
  for (const line of lines) {
    const { type, object } = JSON.parse(line);
    if (type !== 'BOOKMARK') objects.set(object.metadata.name, object);
  }
}
