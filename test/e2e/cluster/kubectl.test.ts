import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { setpoint } from '../../fixture/command-here.ts';
import { endOf, folderWith } from '../../fixture/command.ts';
import { clusterWorld, openReal, reasonOf } from '../../fixture/cluster-world.ts';
import { kubeApiserver, type KubeApiserver } from '../../fixture/kube-apiserver.ts';
import { hasProgram } from '../../fixture/program.ts';

const KUBECTL = process.env['SETPOINT_TEST_KUBECTL'] ?? 'kubectl';
const server = kubeApiserver();
const ROOT = join(import.meta.dirname, '../../..');
const isThere = server !== null && hasProgram(KUBECTL);

/** Runs kubectl as the administrator; `input` goes to its stdin. */
async function kubectl(
  args: readonly string[],
  input = '',
): Promise<{ readonly code: number; readonly out: string }> {
  const { url, token, ca } = server as KubeApiserver;
  const folder = folderWith({});
  const authority = join(folder.path, 'ca.crt');
  writeFileSync(authority, ca);
  const access = ['--server', url.origin, '--token', token, '--certificate-authority', authority];
  const child = spawn(KUBECTL, [...access, ...args], {
    env: { HOME: folder.path, PATH: process.env['PATH'] },
  });
  child.stdin.end(input);
  const { code, stdout, stderr } = await endOf(child, `kubectl ${args.join(' ')}`);
  folder.remove();
  return { code: code ?? -1, out: stdout + stderr };
}

const target = (spec: object): string =>
  stringify({
    apiVersion: 'setpoint.dev/v1alpha1',
    kind: 'SettingsTarget',
    metadata: { name: 'production' },
    spec: { server: { url: 'https://agents.example.com' }, mode: 'Observe', ...spec },
  });

describe.skipIf(!isThere)(
  'kubectl on a real API server (SETPOINT_KUBE_APISERVER and kubectl, or SETPOINT_TEST_KUBECTL)',
  () => {
    const world = async () => clusterWorld(await openReal(server as KubeApiserver));

    it('applies what is rendered, and says nothing the second time', async () => {
      const { namespace } = await world();
      const crd = await setpoint(['render', 'crd'], { cwd: ROOT });
      expect(
        (await kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], crd.stdout))
          .code,
      ).toBe(0);
      const args = ['--secret', 'agents', '--namespace', namespace];
      const rendered = await setpoint(
        ['render', '-f', 'examples/complete/settings.yaml', ...args],
        { cwd: ROOT },
      );
      for (const what of ['created', 'unchanged']) {
        const { code, out } = await kubectl(['apply', '-f', '-'], rendered.stdout);
        expect([code, out]).toEqual([0, expect.stringContaining(`settingstarget.setpoint.dev/`)]);
        for (const line of out.trim().split('\n')) expect(line).toMatch(new RegExp(`${what}$`));
      }
    });

    it.each([
      [
        'a misspelt field',
        { settings: { langauge: 'en' } },
        'unknown field "spec.settings.langauge"',
      ],
      [
        'a secret',
        { settings: { llm_api_key: 'sk-1' } },
        'unknown field "spec.settings.llm_api_key"',
      ],
    ])('refuses %s', async (_, spec, message) => {
      const { namespace } = await world();
      const { code, out } = await kubectl(['apply', '-n', namespace, '-f', '-'], target(spec));
      expect([code, out]).toEqual([1, expect.stringContaining(message)]);
    });

    it('waits for an object, lists its columns, and describes its events', async () => {
      const one = await world();
      const of = ['-n', one.namespace];
      await one.target('production', { settings: { language: 'en' } });
      const waiting = kubectl([
        ...of,
        'wait',
        '--for=condition=Ready',
        '--timeout=60s',
        'spt/production',
      ]);
      await one.start();
      expect(await waiting).toEqual({
        code: 0,
        out: 'settingstarget.setpoint.dev/production condition met\n',
      });
      await one.until('production', (now) => reasonOf(now, 'Drifted') === 'Differs');
      const { out } = await kubectl([...of, 'get', 'spt']);
      const [heads = '', row = ''] = out.split('\n');
      expect(heads.split(/ {2,}/)).toEqual([
        'NAME',
        'MODE',
        'SYNC',
        'CHANGES',
        'READY',
        'REASON',
        'RELEASE',
        'LAST LOOK',
        'AGE',
      ]);
      expect(row.split(/ {2,}/).slice(0, 6)).toEqual([
        'production',
        'Observe',
        'OutOfSync',
        '1',
        'True',
        'Observed',
      ]);
      await expect
        .poll(async () => (await kubectl([...of, 'describe', 'spt', 'production'])).out, {
          timeout: 20_000,
        })
        .toMatch(/Normal\s+Drifted\s.*language/);
    });

    it('explains a field', async () => {
      await world();
      const { code, out } = await kubectl(['explain', 'settingstarget.spec.valuesFrom.path']);
      expect([code, out]).toEqual([0, expect.stringContaining('settings.llm_api_key')]);
    });
  },
);
