// A fleet on this machine: the process that answers for all of it, its settings files, and the list of its addresses.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DECLARED, RECORD } from './record.mjs';

/** One environment in this many declares a value that its service does not have. */
const DIFFERS = 100;

/** The name of an environment by its number. */
export function nameOf(index) {
  return `env-${String(index).padStart(5, '0')}`;
}

/**
 * A server, and a folder for settings files. `host` is where it listens: 127.0.0.1, or 0.0.0.0 for all of 127.0.0.0/8, which only
 * Linux has without further ado; `latency` is the milliseconds until each answer.
 */
export async function startFleet(host, latency = 0) {
  const folder = mkdtempSync(join(tmpdir(), 'setpoint-fleet-'));
  const server = spawn(
    process.execPath,
    [join(import.meta.dirname, 'server.mjs'), host, String(latency)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const [port] = await once(createInterface(server.stdout), 'line');
  return {
    folder,
    port: Number(port),
    env: { PATH: process.env.PATH, HOME: folder, SETPOINT_API_KEY: 'key-of-the-fleet-4711' },
    async stop() {
      server.kill();
      await once(server, 'close');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * What the server of a fleet has seen: the reads that it answered, and the most connections that were open at once since this was asked
 * last, without the one that asks.
 */
export async function askFleet(port) {
  const response = await fetch(`http://127.0.0.1:${port}/asked`, {
    headers: { connection: 'close' },
  });
  return response.json();
}

/**
 * Writes NAME.yaml with the environments from..to (without to), and their addresses as NAME.txt. With `key`, each is sent the key of
 * the fleet.
 */
export function writeSettings(folder, name, { from, to, key, addressOf }) {
  const declared = DECLARED.map((field) => `  ${field}: ${JSON.stringify(RECORD[field])}`);
  const lines = ['version: 1', 'settings:'];
  lines.push(...declared, 'environments:');
  const sent = key ? ', api_key: "${env:SETPOINT_API_KEY}"' : '';
  const addresses = [];
  for (let index = from; index < to; index += 1) {
    const iterations = index % DIFFERS === 0 ? RECORD.max_iterations + 1 : RECORD.max_iterations;
    addresses.push(addressOf(index));
    lines.push(
      `  ${nameOf(index)}:`,
      `    server: { url: "${addressOf(index)}"${sent} }`,
      `    settings: { max_iterations: ${iterations} }`,
    );
  }
  writeFileSync(join(folder, `${name}.yaml`), `${lines.join('\n')}\n`);
  writeFileSync(join(folder, `${name}.txt`), `${addresses.join('\n')}\n`);
}
