import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { folderWith, setpoint } from '../../fixture/command.ts';
import { answer, rawServer, SETTINGS } from '../../faults/raw-server.ts';
import { tunnel } from '../../faults/tunnel.ts';

const cert = (name: string): string =>
  fileURLToPath(new URL(`../../faults/certs/${name}`, import.meta.url));

it('the built command goes through HTTPS_PROXY, as a tunnel that sees no key', async () => {
  const server = await rawServer((socket) => socket.write(answer(200, SETTINGS)), {
    key: readFileSync(cert('server.key')),
    cert: readFileSync(cert('server.pem')),
  });
  const proxy = await rawServer((socket) => tunnel(socket, server.port));
  const folder = folderWith({
    'settings.yaml': `version: 1
server:
  url: https://agents.example.test
  api_key: \${env:KEY}
  ca_file: ${JSON.stringify(cert('ca.pem'))}
`,
  });
  const env = { KEY: 'canary-key', HTTPS_PROXY: proxy.url };
  const ended = await setpoint(['plan'], { cwd: folder.path, env });
  folder.remove();
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  expect(ended.stdout).toContain('No changes.');
  expect(proxy.requests[0]).toMatch(/^CONNECT agents\.example\.test:443 /);
  expect(proxy.requests.join('')).not.toContain('canary-key');
  expect(server.requests[0]).toContain('canary-key');
});
