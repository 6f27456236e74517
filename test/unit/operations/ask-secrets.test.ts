import { expect, it } from 'vitest';
import type { Target } from '../../../src/reconciler/desired/target.ts';
import type { SecretPath } from '../../../src/reconciler/model/ports.ts';
import { askSecrets } from '../../../src/reconciler/operations/prepare.ts';
import type { Options } from '../../../src/reconciler/operations/options.ts';
import type { Running } from '../../../src/reconciler/operations/redacting.ts';
import { read } from '../desired/reading.ts';

const FILE = `version: 1
environments:
  one: { server: { url: "https://one.example.com", api_key: "KEY" } }
  two: { server: { url: "https://two.example.com", api_key: null }, settings: { llm_api_key: "KEY" } }
`;

/** What is asked for, as command/path. */
async function asked(targets: readonly Target[], servers: readonly Target[]): Promise<string[]> {
  const found: SecretPath[] = [];
  const ask = async (wanted: readonly SecretPath[]): Promise<void> => {
    found.push(...wanted);
  };
  const running = { env: {}, secrets: { ask } } as unknown as Running<Options>;
  await askSecrets(targets, servers, running);
  return found.map(({ command, path }) => `${command}/${path}`);
}

it.each(['${secret:store/a}', String.raw`\x24{secret:store/a}`, '${sec\\\n    ret:store/a}'])(
  'a secret is asked for, spelled %j',
  async (key) => {
    const { targets, diagnostics } = read(FILE.replaceAll('KEY', key));
    expect(diagnostics).toEqual([]);
    const [one, two] = targets as [Target, Target];
    expect(await asked(targets, targets)).toEqual(['store/a']);
    expect(await asked([two], [two])).toEqual(['store/a']);
    expect(await asked([], [one])).toEqual(['store/a']);
    expect(await asked([], [two])).toEqual([]);
  },
);

it('a secret of a base file is asked for', async () => {
  const base = 'version: 1\nsettings: { llm_api_key: "${secret:store/b}" }\n';
  const { targets } = read(`extends: base.yaml\n${FILE.replaceAll('KEY', '${env:KEY}')}`, base);
  expect(await asked(targets, targets)).toEqual(['store/b']);
});

it('environments of files that name no secret are not looked into', async () => {
  const { targets } = read(FILE.replaceAll('KEY', '${env:KEY}'));
  const closed = targets.map(
    ({ name, file, mayReadSecrets }) =>
      new Proxy({ name, file, mayReadSecrets } as Target, {
        get: (known, part) => {
          if (part in known) return known[part as keyof Target];
          throw new Error(`${String(part)} was looked at`);
        },
      }),
  );
  expect(await asked(closed, closed)).toEqual([]);
});
