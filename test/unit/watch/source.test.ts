import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { member, readNodeText } from '../../../src/reconciler/desired/node.ts';
import { CurrentFiles, filesSource } from '../../../src/controller/watch/source.ts';

const SETTINGS = `version: 1
extends: base.yaml
server: { url: "http://127.0.0.1:9" }
settings: { language: en }
`;
const BASE = 'version: 1\nsettings: { agent: CodeActAgent }\n';
const BROKEN = 'version: 1\nsettings: { no_such_field: 1 }\n';

/** Files that are kept up to date, in a folder of their own: how often they were read, and a way to write one. */
function place(
  files: Readonly<Record<string, string>>,
  policy?: string,
  file: string | readonly string[] = 'settings.yaml',
) {
  const folder = mkdtempSync(join(tmpdir(), 'setpoint-source-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const put = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  for (const [name, text] of Object.entries(files)) put(name, text);
  const source = filesSource(
    {
      file: [file].flat().map((name) => join(folder, name)),
      env: {},
      checkout: { from: 'branch', root: folder, state: folder },
      ...(policy === undefined ? {} : { policy: join(folder, policy) }),
    },
    async () => null,
  );
  const reads = { count: 0 };
  const load = (): ReturnType<typeof source.load> => {
    reads.count += 1;
    return source.load();
  };
  const current = new CurrentFiles({ ...source, load });
  const turns = async (count: number): Promise<number> => {
    const before = reads.count;
    for (let turn = 0; turn < count; turn += 1) await current.refresh();
    return reads.count - before;
  };
  return { current, put, turns, remove: (name: string) => rmSync(join(folder, name)) };
}

describe('files that are broken', () => {
  it('are read again only if one of them changes: the file itself', async () => {
    const { current, put, turns } = place({ 'settings.yaml': SETTINGS, 'base.yaml': BASE });
    expect(await turns(3)).toBe(1);
    put('settings.yaml', `${SETTINGS}no_such_block: 1\n`);
    expect(await turns(3)).toBeGreaterThan(0);
    expect(current.problem?.code).toBe('settings-invalid');
    expect(current.targets).toHaveLength(1);
    expect(await turns(10)).toBe(0);
    put('settings.yaml', SETTINGS);
    expect(await turns(1)).toBe(1);
    expect(current.problem).toBeNull();
  });

  it('or their base, also one that no usable file has named, and one that was not there', async () => {
    const { current, put, turns, remove } = place({ 'settings.yaml': SETTINGS });
    await turns(4);
    expect(current.problem?.code).toBe('settings-invalid');
    expect(await turns(10)).toBe(0);
    put('base.yaml', BROKEN);
    expect(await turns(4)).toBeGreaterThan(0);
    expect(current.problem?.code).toBe('settings-invalid');
    expect(await turns(10)).toBe(0);
    put('base.yaml', BASE);
    expect(await turns(1)).toBe(1);
    expect(current.problem).toBeNull();
    remove('base.yaml');
    await turns(4);
    expect(current.problem?.code).toBe('settings-invalid');
    expect(await turns(10)).toBe(0);
    put('base.yaml', BASE);
    await turns(1);
    expect(current.problem).toBeNull();
  });

  it('are read a second time although nothing tells of a change: somebody may have been writing', async () => {
    const { turns } = place({ 'settings.yaml': BROKEN });
    expect(await turns(1)).toBe(1);
    expect(await turns(1)).toBe(1);
    expect(await turns(5)).toBe(0);
  });

  it('are read each time if they cannot be read at all', async () => {
    const { current, turns } = place({});
    expect(await turns(5)).toBe(5);
    expect(current.problem?.code).toBe('file-unreadable');
  });
});

describe('on the next turn', () => {
  it('a change of the base takes effect', async () => {
    const { current, put, turns } = place({ 'settings.yaml': SETTINGS, 'base.yaml': BASE });
    await turns(2);
    put('base.yaml', BASE.replace('CodeActAgent', 'BrowsingAgent'));
    expect(await turns(1)).toBe(1);
    const [target] = current.targets;
    expect(readNodeText(member(target?.settings, 'agent'))).toBe('BrowsingAgent');
  });

  it('a change of the policy does', async () => {
    const policy = (language: string): string =>
      JSON.stringify({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        properties: { settings: { properties: { language: { const: language } } } },
      });
    const { current, put, turns } = place(
      { 'settings.yaml': SETTINGS, 'base.yaml': BASE, 'policy.json': policy('en') },
      'policy.json',
    );
    expect(await turns(2)).toBe(1);
    expect(current.problem).toBeNull();
    put('policy.json', policy('fr'));
    await turns(1);
    expect(current.problem?.code).toBe('policy-violated');
    expect(await turns(1)).toBe(1);
    expect(await turns(5)).toBe(0);
    put('policy.json', policy('en'));
    await turns(1);
    expect(current.problem).toBeNull();
  });

  it('a change of the schema lock does, also that there is one', async () => {
    const lock = (type: string): string => {
      const path = 'agent_settings.llm.later_limit';
      const member = { path, type, default: null, choices: [], secret: false };
      const server = { dialect: 'agent-server', release: '1.58.0', members: [member] };
      return JSON.stringify({ version: 1, servers: [server] });
    };
    const declared = '{ agent_settings: { llm: { later_limit: 7 } } }';
    const { current, put, turns } = place({
      'settings.yaml': SETTINGS.replace('{ language: en }', declared),
      'base.yaml': BASE,
    });
    const becomes = async (code: string | null): Promise<void> => {
      await turns(1);
      expect(current.problem?.code ?? null).toBe(code);
    };
    await turns(5);
    await becomes('settings-invalid');
    put('settings.schema-lock.json', lock('integer'));
    await becomes(null);
    put('settings.schema-lock.json', lock('string'));
    await becomes('settings-invalid');
  });
});

describe('one broken file of several', () => {
  const eu = 'version: 1\nserver: { url: "http://127.0.0.1:9" }\nsettings: { language: en }\n';
  const names = ({ targets }: CurrentFiles): string[] => targets.map(({ name }) => name).toSorted();

  it('stops only its own environments: at the start they are not watched', async () => {
    const { current, put, turns } = place(
      { 'eu.yaml': eu, 'us.yaml': BROKEN },
      undefined,
      '*.yaml',
    );
    expect(await turns(3)).toBeGreaterThan(0);
    expect(names(current)).toEqual(['eu']);
    expect(current.broken).toEqual([
      expect.objectContaining({ file: expect.stringContaining('us.yaml'), isKept: false }),
    ]);
    expect(current.problemText).toMatch(/us\.yaml:\d+:\d+: /);
    expect(await turns(10)).toBe(0);
    put('us.yaml', eu);
    expect(await turns(1)).toBe(1);
    expect([names(current), current.broken, current.problem]).toEqual([['eu', 'us'], [], null]);
  });

  it('later they go on as they were declared last, while edits of the others count', async () => {
    const files = { 'eu.yaml': eu, 'us.yaml': eu };
    const { current, put, turns } = place(files, undefined, '*.yaml');
    await turns(1);
    put('us.yaml', BROKEN);
    await turns(3);
    expect(names(current)).toEqual(['eu', 'us']);
    expect(current.broken).toMatchObject([{ isKept: true }]);
    put('eu.yaml', eu.replace('language: en', 'language: de'));
    await turns(3);
    const language = ({ targets }: CurrentFiles, of: string) =>
      readNodeText(member(targets.find(({ name }) => name === of)?.settings, 'language'));
    expect([language(current, 'eu'), language(current, 'us')]).toEqual(['de', 'en']);
    put('eu.yaml', BROKEN);
    await turns(3);
    expect([names(current), current.broken]).toEqual([['eu', 'us'], []]);
  });
});
