// A tour, as a person would take it: the real command on one file and two embedded services, one of which is upgraded on the way.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
  AGENTS_API_KEY: key,
  LLM_API_KEY: 'sk-demo-only',
  MCP_API_KEY: 'mcp-demo-only',
  ...(process.stdout.isTTY ? { FORCE_COLOR: '1' } : {}),
};
delete env.CI;

function say(text) {
  process.stdout.write(`\n${styleText('dim', `# ${text}`)}\n`);
}

const sandboxes = join(root, 'examples/sandboxes');

function setpointIn(cwd, expected, ...args) {
  process.stdout.write(`${styleText('bold', `$ setpoint ${args.join(' ')}`)}\n`);
  const { status } = spawnSync(process.execPath, [command, ...args], {
    cwd,
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  process.stdout.write(styleText('dim', `exit ${status}\n\n`));
  if (status !== expected)
    throw new Error(`setpoint ${args[0]} ended with ${status}, not with ${expected}`);
}

const setpoint = (expected, ...args) => setpointIn(folder, expected, ...args);

/** One file for two services. The second has no sandbox_api_key. */
function fileFor(production, agents) {
  return `version: 1
settings:
  language: en
  llm_model: anthropic/claude-sonnet-4-5
  llm_api_key: \${env:LLM_API_KEY}
  max_iterations: 100
  sandbox_api_key: null
  mcp_config:
    shttp_servers:
      - url: https://mcp.example.com/mcp
        api_key: \${env:MCP_API_KEY}
        timeout: 30
environments:
  production:
    server: { url: ${production}, api_key: "\${env:SETPOINT_API_KEY}" }
  agents:
    server: { url: ${agents}, api_key: "\${env:AGENTS_API_KEY}" }
    unmanaged: [sandbox_api_key]
`;
}

/** Starts the embedded service on a port, 0 for a free one; every service here has the same store. */
async function serve(dialect, port = '0') {
  const data = join(folder, dialect === 'agent-server' ? 'agent-server.json' : 'store.json');
  const args = ['serve', '--port', port, '--data', data, '--dialect', dialect];
  const service = spawn(process.execPath, [command, ...args], {
    env: { ...env, SESSION_API_KEY: key },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  services.push(service);
  const url = await new Promise((resolve, reject) => {
    createInterface(service.stdout).once('line', resolve);
    service.once('exit', (code) => reject(new Error(`serve ended with ${code}`)));
  });
  return { url, port: new URL(url).port, stop: () => stopped(service) };
}

const services = [];

function stopped(service) {
  if (service.exitCode !== null || service.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    service.once('exit', resolve);
    service.kill('SIGTERM');
  });
}

async function changeBehindTheFile(url) {
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
}

try {
  const production = await serve('settings-v0');
  const agents = await serve('agent-server');
  const file = fileFor(production.url, agents.url);
  writeFileSync(join(folder, 'settings.yaml'), file);
  say('Two embedded services are running, with nothing stored yet, and one file declares both:');
  process.stdout.write(`${styleText('bold', '$ cat settings.yaml')}\n${file}\n`);
  setpoint(0, 'validate');
  say('Make it so, and verify it.');
  setpoint(0, 'apply', '-e', 'production', '--yes');
  say('Somebody changes the service behind the file, as a click in a user interface does.');
  await changeBehindTheFile(production.url);
  setpoint(2, 'drift', '-e', 'production');
  setpoint(0, 'apply', '-e', 'production', '--yes', '--quiet');

  say(
    'The service is upgraded. The new release has another settings API, and reads the same store.',
  );
  await production.stop();
  const upgraded = await serve('app-server', production.port);
  say('The same file at the same address: the plan shows what the upgrade lost.');
  setpoint(0, 'plan', '-e', 'production');
  say('Put it back.');
  setpoint(0, 'apply', '-e', 'production', '--yes', '--quiet');
  setpoint(0, 'plan', '-e', 'production');

  say(
    'The other service is an Agent Server, with a third settings API. The file says the same to it.',
  );
  setpoint(0, 'apply', '-e', 'agents', '--yes');
  say('Both are as declared.');
  setpoint(0, 'drift', '--all');
  await agents.stop();

  const there = ['--server', upgraded.url];
  say('Another file declares sandboxes: two by day, none by night.');
  setpointIn(sandboxes, 0, 'apply', '-e', 'day', ...there, '--yes');
  say(
    'In the evening they are paused, in the morning resumed: nothing is started if a resume will do.',
  );
  setpointIn(sandboxes, 0, 'apply', '-e', 'night', ...there, '--yes');
  setpointIn(sandboxes, 0, 'apply', '-e', 'day', ...there, '--yes', '--quiet');
  setpointIn(sandboxes, 0, 'get', 'sandboxes', '-e', 'day', ...there);
  await upgraded.stop();
} finally {
  await Promise.all(services.map(stopped));
  rmSync(folder, { recursive: true, force: true });
}
