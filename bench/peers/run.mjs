// `npm run bench:peers [-- ENVIRONMENTS…]`: setpoint drift beside what else finds drift, in turn, for 1 and for 100 environments. What is
// not installed is skipped by name. OpenTofu finds its provider as it is set up to (a filesystem mirror, or the registry).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nameOf, startFleet, writeSettings } from '../fleet/lay-out.mjs';
import { DECLARED, RECORD } from '../fleet/record.mjs';
import { COMMAND, inTurn, ratioRow } from '../measure.mjs';
import { tableOf } from '../table.mjs';

const SIZES = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [1, 100];
const here = (name) => join(import.meta.dirname, name);

/** How each finds drift, what it needs, and how it ends when it has found some. */
const PEERS = [
  {
    name: 'curl and jq',
    tools: [
      ['curl', '--version'],
      ['jq', '--version'],
    ],
    files: ['curl-jq.sh'],
    drift: ['sh', 'curl-jq.sh'],
    ends: 2,
  },
  {
    name: 'Ansible, 8 forks',
    tools: [['ansible-playbook', '--version']],
    files: ['playbook.yml'],
    drift: ['ansible-playbook', '--inventory', 'inventory.json', '--forks', '8', 'playbook.yml'],
    ends: 2,
  },
  ...['tofu', 'terraform'].map((tool) => ({
    name: tool === 'tofu' ? 'OpenTofu' : 'Terraform',
    tools: [[tool, 'version']],
    files: ['main.tf'],
    prepare: [
      ['rm', '-rf', '.terraform', 'terraform.tfstate', '.terraform.lock.hcl'],
      [tool, 'init', '-input=false', '-no-color'],
      [tool, 'apply', '-input=false', '-no-color', '-auto-approve'],
    ],
    drift: [tool, 'plan', '-detailed-exitcode', '-input=false', '-no-color'],
    ends: 2,
  })),
];

/** Milliseconds of a program that ends with a code. Throws an Error with the end of what it printed if it ends otherwise. */
async function timed([program, ...args], { cwd, env }, ends = 0) {
  const start = performance.now();
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => (printed += chunk.toString()));
  const [code] = await once(child, 'close');
  if (code === ends) return performance.now() - start;
  throw new Error(
    `${program} ended with ${code}: ${printed.trim().split('\n').slice(-15).join('\n')}`,
  );
}

function layOut(fleet, count) {
  const origin = `http://127.0.0.1:${fleet.port}`;
  const addressOf = (index) => `${origin}/${nameOf(index)}`;
  writeSettings(fleet.folder, 'settings', { from: 0, to: count, key: true, addressOf });
  const shared = Object.fromEntries(DECLARED.map((field) => [field, RECORD[field]]));
  // As in settings.yaml: the first environment declares what its service does not have.
  const declared = (index) => ({
    ...shared,
    max_iterations: RECORD.max_iterations + (index % 100 === 0 ? 1 : 0),
  });
  const names = Array.from({ length: count }, (_, index) => nameOf(index));
  const environments = Object.fromEntries(names.map((name, index) => [name, declared(index)]));
  const undeclared = Object.keys(RECORD).filter((field) => !(field in declared(0)));
  const hosts = Object.fromEntries(
    Object.entries(environments).map(([name, settings]) => [name, { settings }]),
  );
  const write = (name, value) =>
    writeFileSync(join(fleet.folder, name), JSON.stringify(value, null, 1));
  write('fleet.json', { origin, undeclared, environments });
  write('inventory.json', { all: { vars: { origin }, hosts } });
}

async function reasonToSkip({ tools, prepare = [] }, place) {
  for (const [tool, ...args] of tools)
    try {
      await timed([tool, ...args], place);
    } catch (error) {
      return error.code === 'ENOENT' ? `${tool} is not installed` : error.message;
    }
  try {
    for (const step of prepare) await timed(step, place);
  } catch (error) {
    return error.message;
  }
  return null;
}

const fleet = await startFleet('127.0.0.1');
try {
  const env = { ...process.env, ...fleet.env, TF_VAR_key: fleet.env.SETPOINT_API_KEY };
  const place = { cwd: fleet.folder, env };
  for (const { files } of PEERS)
    for (const file of files) copyFileSync(here(file), join(fleet.folder, file));
  const rows = [];
  for (const count of SIZES) {
    layOut(fleet, count);
    for (const peer of PEERS) {
      const reason = await reasonToSkip(peer, place);
      if (reason !== null) {
        console.error(`skipped: ${peer.name}: ${reason}`);
        continue;
      }
      const drift = () => timed([process.execPath, COMMAND, 'drift'], place, 2);
      const other = () => timed(peer.drift, place, peer.ends);
      const pairs = await inTurn(count === 1 ? 7 : 3, drift, other);
      const name = `drift of ${count} environment${count === 1 ? '' : 's'}`;
      rows.push(ratioRow({ name, over: peer.name, limit: null, unit: 'ms', pairs }));
    }
  }
  console.log(tableOf(rows));
} finally {
  await fleet.stop();
}
