import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CronJob } from 'kubernetes-types/batch/v1.js';
import ts from 'typescript';
import { parse } from 'yaml';
import { afterEach, describe, expect, it } from 'vitest';
import { startEmulator, type Emulator } from '../../src/emulator/start.ts';
import { folderWith, setpoint } from '../fixture/command.ts';
import { readText } from './read-text.ts';
import { PACKAGE } from './workflow-file.ts';

const text = readText('examples/kubernetes/cronjob.yml');
const manifest = parse(text) as CronJob;
const job = manifest.spec?.jobTemplate.spec;
const pod = job?.template.spec;
const container = pod?.containers[0];

let service: Emulator | undefined;
afterEach(() => service?.close());

/** What the compiler reports of a manifest as a CronJob: misspelt keys, wrong types, what is missing. */
function mistakesIn(yaml: string): readonly string[] {
  const name = join(import.meta.dirname, 'manifest.ts');
  const code = `import type { CronJob } from 'kubernetes-types/batch/v1.js';
export const manifest: CronJob = ${JSON.stringify(parse(yaml))};
`;
  const options: ts.CompilerOptions = { noEmit: true, strict: true, skipLibCheck: true, types: [] };
  const host = ts.createCompilerHost(options);
  const [exists, source] = [host.fileExists.bind(host), host.getSourceFile.bind(host)];
  host.fileExists = (path) => path === name || exists(path);
  host.getSourceFile = (path, version, ...rest) =>
    path === name ? ts.createSourceFile(name, code, version) : source(path, version, ...rest);
  const program = ts.createProgram([name], options, host);
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

describe('the CronJob', () => {
  it('is one, by the types of Kubernetes', () => {
    expect(mistakesIn(text)).toEqual([]);
  });

  it.each([
    ['a misspelt key', text.replace('backoffLimit', 'backofLimit'), /backofLimit/],
    [
      'a misspelt key far inside',
      text.replace('readOnlyRootFilesystem', 'readOnlyRoot'),
      /readOnlyRoot/,
    ],
    [
      'a wrong type',
      text.replace('backoffLimit: 3', "backoffLimit: '3'"),
      /'string' is not assignable to type 'number'/,
    ],
    ['another kind', text.replace('kind: CronJob', 'kind: Job'), /"Job"/],
  ])('would not be with %s', (_, broken, message) => {
    expect(broken).not.toBe(text);
    expect(mistakesIn(broken).join()).toMatch(message);
  });

  it('ends at drift, at a wrong file and at a refused key, and tries the rest again', () => {
    const rules = job?.podFailurePolicy?.rules ?? [];
    const failing = rules.find(({ action }) => action === 'FailJob')?.onExitCodes;
    expect(failing).toEqual({ containerName: container?.name, operator: 'In', values: [2, 3, 4] });
    expect([pod?.restartPolicy, manifest.spec?.concurrencyPolicy]).toEqual(['Never', 'Forbid']);
    expect(job?.backoffLimit).toBeGreaterThan(0);
  });

  it('runs as nobody who could harm the node, this version, with its keys from a secret', () => {
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(container).toMatchObject({
      image: `registry.example.com/setpoint:${PACKAGE.version}`,
      securityContext: {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      },
    });
    const key = container?.env?.find(({ name }) => name === 'SETPOINT_API_KEY');
    expect(key?.valueFrom?.secretKeyRef).toEqual({ name: 'setpoint', key: 'api-key' });
    expect(pod?.volumes?.find(({ name }) => name === 'secrets')?.secret?.defaultMode).toBe(0o440);
  });

  it('declares what the example settings need, in the form that the command takes', async () => {
    service = await startEmulator({ apiKey: 'a-key' });
    const settings = readText('examples/kubernetes/settings.yaml');
    const env = Object.fromEntries(
      (container?.env ?? []).map(({ name, value = 'a-key' }) => [name, value]),
    );
    expect(settings).toContain(`url: ${env['SETPOINT_ALLOWED_ORIGINS']}\n`);
    expect(settings.match(/\$\{env:(\w+)/g)).toEqual([
      '${env:' + String(env['SETPOINT_ALLOWED_VARIABLES']),
    ]);
    const mounted = pod?.volumes?.find(({ name }) => name === 'secrets')?.secret?.items?.[0]?.path;
    expect(settings).toContain(
      `\${file:${String(container?.volumeMounts?.[1]?.mountPath)}/${mounted}}`,
    );

    const folder = folderWith({ 'settings.yaml': '' });
    try {
      const path = join(folder.path, 'settings.yaml');
      writeFileSync(path, settings.replace('https://agents.example.com', service.url));
      const args = container?.args?.map((arg) =>
        arg === '/etc/setpoint/settings.yaml' ? path : arg,
      );
      const { code, stdout } = await setpoint(args ?? [], { cwd: folder.path, env });
      expect([code, stdout.includes('language')]).toEqual([2, true]);
    } finally {
      folder.remove();
    }
  });
});
