// How long the command takes as a whole process, against bare Node doing the same: pairs in turn, the median of their ratios.
import { spawnSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const PAIRS = 15;
const command = join(import.meta.dirname, '../dist/bin/setpoint.cjs');
const folder = mkdtempSync(join(tmpdir(), 'setpoint-bench-'));
const env = { PATH: process.env.PATH };

function milliseconds(args) {
  const start = process.hrtime.bigint();
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: folder, env });
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`);
  return Number(process.hrtime.bigint() - start) / 1e6;
}

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
}

function compare(name, limit, ours, baseline) {
  milliseconds(ours);
  milliseconds(baseline);
  const pairs = Array.from({ length: PAIRS }, () => [milliseconds(ours), milliseconds(baseline)]);
  const ratio = median(pairs.map(([a, b]) => a / b));
  const [mine, bare] = [0, 1].map((side) => median(pairs.map((pair) => pair[side])));
  const verdict = ratio <= limit ? 'ok' : 'TOO SLOW';
  console.log(
    `${name}: ${ratio.toFixed(2)}x (at most ${limit}x)  ${mine.toFixed(1)} ms over ${bare.toFixed(1)} ms  ${verdict}`,
  );
  if (ratio > limit) process.exitCode = 1;
}

const service = spawn(process.execPath, [command, 'serve', '--port', '0'], {
  cwd: folder,
  env,
  stdio: ['ignore', 'pipe', 'ignore'],
});
try {
  const url = await new Promise((resolve) => createInterface(service.stdout).once('line', resolve));
  await fetch(`${url}/api/settings`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"language":"en","max_iterations":20}',
  });
  writeFileSync(
    join(folder, 'settings.yaml'),
    `version: 1\nserver: { url: "${url}" }\nsettings: { language: en, max_iterations: 50 }\n`,
  );
  writeFileSync(
    join(folder, 'bare.mjs'),
    `import { get } from 'node:http';\nget('${url}/api/settings', (response) => {\n  let text = '';\n  response.on('data', (chunk) => (text += chunk));\n  response.on('end', () => JSON.parse(text));\n});\n`,
  );
  compare('setpoint plan, over a bare GET with node:http', 2, [command, 'plan'], ['bare.mjs']);
  compare('setpoint --help, over node -e 0', 1.3, [command, '--help'], ['-e', '0']);
} finally {
  service.kill();
  rmSync(folder, { recursive: true, force: true });
}
