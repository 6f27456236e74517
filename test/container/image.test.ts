import { getContainerRuntimeClient } from 'testcontainers';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { folderWith } from '../fixture/command.ts';
import { ReadOnlyContainer } from './read-only-container.ts';
import { runToEnd } from './run-to-end.ts';

const image = inject('image');

function node(script: string) {
  const container = new ReadOnlyContainer(image).withEntrypoint(['node', '-e', script]);
  return runToEnd(container.withCommand([]));
}

describe('the image', () => {
  it('runs the command as a numbered user that is not root', async () => {
    const { container } = await getContainerRuntimeClient();
    const { Config } = await container.dockerode.getImage(image).inspect();
    expect(Config.User).toBe('1000:1000');
    expect(Config.Labels).toMatchObject({ 'org.opencontainers.image.title': 'setpoint' });
    const { stdout } = await node('console.log(process.getuid(), process.getgid(), process.cwd())');
    expect(stdout).toBe('1000 1000 /work\n');
  });

  it('holds what the command needs, and nothing of the build', async () => {
    const { stdout } = await node(`
      const { readdirSync } = require('node:fs');
      for (const path of readdirSync('/opt/setpoint', { recursive: true })) console.log(path);
    `);
    const files = stdout.trim().split('\n');
    const tops = new Set(files.map((path) => path.split('/')[0]));
    expect(tops).toEqual(new Set(['LICENSE', 'dist', 'installed-by', 'package.json', 'schemas']));
    expect(files).toEqual(
      expect.arrayContaining(['dist/THIRD-PARTY-NOTICES.txt', 'dist/sbom.cdx.json']),
    );
  });

  it.each(['version', 'schema'])(
    '%s runs for a user that the image does not know',
    async (name) => {
      const args = name === 'schema' ? ['schema', 'settings'] : [name];
      const container = new ReadOnlyContainer(image).withUser('54321:54321').withCommand(args);
      expect(await runToEnd(container)).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('setpoint'),
        stderr: '',
      });
    },
  );

  it('refuses to listen off loopback without a key', async () => {
    const container = new ReadOnlyContainer(image).withCommand(['serve', '--port', '0.0.0.0:3000']);
    expect(await runToEnd(container)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('without an API key'),
    });
  });
});

describe('state under /work', () => {
  const volume = `setpoint-test-${process.pid}`;
  const folder = folderWith({
    'settings.yaml':
      'version: 1\nserver: { url: "embedded:/work/store.json" }\nsettings: { language: fr }\n',
  });

  afterAll(async () => {
    folder.remove();
    const { container } = await getContainerRuntimeClient();
    await container.dockerode.getVolume(volume).remove();
  });

  function setpoint(...args: readonly string[]) {
    const container = new ReadOnlyContainer(image).withBindMounts([
      { source: volume, target: '/work' },
      { source: `${folder.path}/settings.yaml`, target: '/settings.yaml', mode: 'ro' },
    ]);
    return runToEnd(container.withCommand([...args, '-f', '/settings.yaml']));
  }

  it('is kept on a volume from one container to the next', async () => {
    expect(await setpoint('apply', '--yes')).toMatchObject({ code: 0 });
    expect(await setpoint('drift')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('No changes.'),
    });
  });
});
