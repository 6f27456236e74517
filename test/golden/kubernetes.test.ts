import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { setpoint } from '../fixture/command-here.ts';
import { expectGolden } from './golden-file.ts';

const ROOT = join(import.meta.dirname, '../..');
const FILES = [
  ['minimal', 'examples/minimal/settings.yaml', ['--secret', 'agents']],
  ['complete', 'examples/complete/settings.yaml', []],
  ['rings', 'examples/rings/settings.yaml', ['--secret', 'agents', '-l', 'ring in (0,1)']],
  ['everything', 'test/golden/kubernetes/everything/settings.yaml', []],
] as const;

describe('settings as objects of Kubernetes', () => {
  it.each(FILES)('%s', async (name, file, flags) => {
    const { code, stdout, stderr } = await setpoint(['render', '-f', file, ...flags], { cwd: ROOT });
    expect([code, stderr]).toEqual([0, '']);
    for (const document of parseAllDocuments(stdout)) {
      expect(document.errors).toEqual([]);
      expect(document.getIn(['metadata', 'annotations'], false)).toMatchObject({
        items: [{ key: { value: 'kustomize.toolkit.fluxcd.io/substitute' } }],
      });
    }
    // References are those of setpoint alone: an escape is the only brace after a dollar.
    expect(stdout.replaceAll('$${', '')).not.toContain('${');
    expectGolden(`kubernetes/${name}/objects.yaml`, stdout);
  });

  it('what no object can hold is refused, each at its place', async () => {
    const file = 'test/golden/kubernetes/refused/settings.yaml';
    const { code, stdout, stderr } = await setpoint(['render', '-f', file], { cwd: ROOT });
    expect([code, stdout]).toEqual([3, '']);
    expectGolden('kubernetes/refused/stderr.txt', stderr);
  });
});
