// How long the command takes as a whole process, against bare Node doing the same.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { COMMAND, inTurn, milliseconds, ratioRow } from './measure.mjs';

const ROUNDS = 21;

export async function measure() {
  const folder = mkdtempSync(join(tmpdir(), 'setpoint-bench-'));
  // With a home, as a person has: what V8 has compiled is kept there by the first run, which is not counted.
  const place = { cwd: folder, env: { PATH: process.env.PATH, HOME: folder } };
  const service = spawn(process.execPath, [COMMAND, 'serve', '--port', '0'], {
    ...place,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  try {
    const [url] = await once(createInterface(service.stdout), 'line');
    await layOut(folder, url);
    const get = { over: 'a GET with node:http', baseline: ['bare.mjs'] };
    const nothing = { over: 'node -e 0', baseline: ['-e', '0'] };
    const rows = [];
    for (const { args, over, baseline, limit } of [
      { args: ['plan'], ...get, limit: 1.5 },
      { args: ['validate'], ...nothing, limit: 1.6 },
      { args: ['version'], ...nothing, limit: 1.2 },
      { args: ['--help'], ...nothing, limit: 1.2 },
      { args: ['plan', '--help'], ...nothing, limit: 1.2 },
    ]) {
      const ours = () => milliseconds([COMMAND, ...args], place);
      const other = () => milliseconds(baseline, place);
      ours();
      other();
      const pairs = await inTurn(ROUNDS, ours, other);
      rows.push(ratioRow({ name: `setpoint ${args.join(' ')}`, over, limit, unit: 'ms', pairs }));
    }
    return rows;
  } finally {
    service.kill();
    await once(service, 'close');
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A settings file for a service that holds something else, and the bare request for the same. */
async function layOut(folder, url) {
  const { status } = await fetch(`${url}/api/settings`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"language":"en","max_iterations":20}',
  });
  if (status !== 200) throw new Error(`the service answered ${status}`);
  writeFileSync(
    join(folder, 'settings.yaml'),
    `version: 1\nserver: { url: "${url}" }\nsettings: { language: en, max_iterations: 50 }\n`,
  );
  writeFileSync(
    join(folder, 'bare.mjs'),
    `import { get } from 'node:http';\nget('${url}/api/settings', (response) => {\n  let text = '';\n  response.on('data', (chunk) => (text += chunk));\n  response.on('end', () => JSON.parse(text));\n});\n`,
  );
}
