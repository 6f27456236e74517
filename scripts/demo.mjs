// A tour: the embedded service with an empty store, and the real command on an example, as a person would run it.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { styleText } from 'node:util';

const root = join(import.meta.dirname, '..');
const command = join(root, 'dist/bin/setpoint.cjs');
const folder = mkdtempSync(join(tmpdir(), 'setpoint-demo-'));
const key = 'demo-key';
const env = {
  ...process.env,
  SETPOINT_API_KEY: key,
  LLM_API_KEY: 'sk-demo-only',
  MCP_API_KEY: 'mcp-demo-only',
  ...(process.stdout.isTTY ? { FORCE_COLOR: '1' } : {}),
};
delete env.CI;

function say(text) {
  process.stdout.write(`\n${styleText('dim', `# ${text}`)}\n`);
}

let example = 'minimal';

function setpoint(expected, ...args) {
  process.stdout.write(`${styleText('bold', `$ setpoint ${args.join(' ')}`)}\n`);
  const { status } = spawnSync(process.execPath, [command, ...args], {
    cwd: join(root, 'examples', example),
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  process.stdout.write(styleText('dim', `exit ${status}\n\n`));
  if (status !== expected)
    throw new Error(`setpoint ${args[0]} ended with ${status}, not with ${expected}`);
}

const service = spawn(
  process.execPath,
  [command, 'serve', '--port', '0', '--data', join(folder, 'store.json')],
  {
    env: { ...env, SESSION_API_KEY: key },
    stdio: ['ignore', 'pipe', 'inherit'],
  },
);
try {
  const [url] = await new Promise((resolve) =>
    createInterface(service.stdout).once('line', (line) => resolve([line])),
  );
  const there = ['--server', url];
  say(`The embedded service answers at ${url}. Its store is empty.`);
  setpoint(0, 'validate');
  say('What would an apply change?');
  setpoint(0, 'plan', ...there);
  say('Make it so, and verify it.');
  setpoint(0, 'apply', ...there, '--yes');
  say('Is the service still as declared?');
  setpoint(0, 'drift', ...there);
  say('Somebody changes the service behind the file, as a click in a user interface does.');
  const changed = await fetch(`${url}/api/settings`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-session-api-key': key },
    body: JSON.stringify({
      language: 'fr',
      max_iterations: 500,
      mcp_config: { shttp_servers: [{ url: 'https://mcp.example.com/mcp', api_key: 'other' }] },
    }),
  });
  if (changed.status !== 200) throw new Error(`the change was answered with ${changed.status}`);
  setpoint(2, 'drift', ...there);
  setpoint(0, 'apply', ...there, '--yes');
  setpoint(0, 'plan', ...there);
  example = 'sandboxes';
  say('Another file declares sandboxes: two by day, none by night.');
  setpoint(0, 'apply', '-e', 'day', ...there, '--yes');
  say(
    'In the evening they are paused, in the morning resumed: nothing is started if a resume will do.',
  );
  setpoint(0, 'apply', '-e', 'night', ...there, '--yes');
  setpoint(0, 'apply', '-e', 'day', ...there, '--yes');
  setpoint(0, 'get', 'sandboxes', '-e', 'day', ...there);
} finally {
  service.kill('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
}
