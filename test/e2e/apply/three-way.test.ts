import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { plan } from '../../../src/reconciler/operations/plan.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';
import { startStore, type JsonRecord, type StoreServer } from '../../fixture/store-server.ts';
import { propertyRuns } from '../../fixture/property-runs.ts';
import { LONG } from '../../fixture/long.ts';

let store: StoreServer;
let folder: ReturnType<typeof folderWith>;

function file(settings: JsonRecord, more = ''): string {
  return `version: 1\nserver: { url: "${store.url}" }\nsettings: ${JSON.stringify(settings)}\n${more}`;
}

beforeEach(async () => {
  store = await startStore({}, {});
  folder = folderWith({});
});
afterEach(async () => {
  await store.close();
  folder.remove();
});

async function classes(now: JsonRecord, base: JsonRecord, stored: JsonRecord) {
  const { writeFileSync } = await import('node:fs');
  store.stored = stored;
  writeFileSync(`${folder.path}/base.yaml`, file(base));
  const document = await plan({ text: file(now), base: `${folder.path}/base.yaml`, env: {} });
  return Object.fromEntries(
    (document.environments[0]?.changes ?? []).map((change) => [
      change.path.join(' '),
      change.class,
    ]),
  );
}

describe('with --base', () => {
  it('the file moved: pending; the service moved: drift; both: conflict; a new field: pending', async () => {
    const base = { language: 'en', agent: 'A', git_user_name: 'one', max_iterations: 50 };
    const now = { ...base, language: 'fr', git_user_name: 'two', llm_model: 'm' };
    const stored = { ...base, agent: 'theirs', git_user_name: 'theirs' };
    expect(await classes(now, base, stored)).toEqual({
      language: 'pending',
      agent: 'drift',
      git_user_name: 'conflict',
      llm_model: 'pending',
    });
  });

  it('entries of mcp lists one by one', async () => {
    const entry = (name: string, timeout = 60) => ({
      url: `https://${name}.example.com/mcp`,
      timeout,
    });
    const list = (...entries: JsonRecord[]) => ({ mcp_config: { shttp_servers: entries } });
    const base = list(entry('kept'), entry('edited'), entry('dropped'), entry('touched'));
    const now = list(entry('kept'), entry('edited', 30), entry('touched'), entry('added'));
    const stored = {
      mcp_config: {
        sse_servers: [],
        stdio_servers: [],
        shttp_servers: [
          entry('kept'),
          entry('edited'),
          entry('dropped'),
          entry('touched', 5),
          entry('foreign'),
        ],
      },
    };
    const found = await classes(now, base, stored);
    const of = (name: string) => found[`mcp_config shttp_servers https://${name}.example.com/mcp`];
    expect(['edited', 'dropped', 'touched', 'added', 'foreign', 'kept'].map(of)).toEqual([
      'pending',
      'pending',
      'drift',
      'pending',
      'drift',
      undefined,
    ]);
  });

  it('random edits on both sides get the right class, field by field', LONG, async () => {
    const names = ['language', 'agent', 'git_user_name', 'llm_model', 'email'];
    const texts = fc.constantFrom('a', 'b', 'c');
    const record = fc.record(Object.fromEntries(names.map((name) => [name, texts])));
    await fc.assert(
      fc.asyncProperty(record, record, record, async (base, now, stored) => {
        const expected = names
          .filter((name) => now[name] !== stored[name])
          .map((name) => {
            if (now[name] === base[name]) return [name, 'drift'];
            return [name, stored[name] === base[name] ? 'pending' : 'conflict'];
          });
        expect(await classes(now, base, { ...stored })).toEqual(Object.fromEntries(expected));
      }),
      { numRuns: propertyRuns(60) },
    );
  });

  it('under the guard, drift is not overwritten in silence; an edit is applied', async () => {
    const { writeFileSync } = await import('node:fs');
    writeFileSync(`${folder.path}/base.yaml`, file({ language: 'en', agent: 'A' }));
    const base = `${folder.path}/base.yaml`;
    const guards = 'guards: { overwrite_drift: true }\n';
    store.stored = { language: 'en', agent: 'theirs' };
    const text = file({ language: 'en', agent: 'A', sandbox_api_key: null }, guards);
    const [refused] = (await apply({ text, base, env: {} })).environments;
    expect(refused).toMatchObject({ status: 'refused', error: { code: 'guard-refused' } });
    expect(refused?.error?.message).toContain('overwrites agent');
    expect(store.posts()).toBe(0);
    const [blind] = (await plan({ text, env: {} })).environments;
    expect(blind?.warnings.at(-1)?.message).toContain(
      'Without --base, setpoint cannot distinguish drift from edits',
    );
    const lifted = await apply({ text, base, env: {}, allow: ['overwrite-drift'] });
    expect(lifted.environments).toMatchObject([
      { status: 'applied', changes: [{ class: 'drift' }] },
    ]);
    store.stored = { language: 'en', agent: 'A' };
    const edited = file({ language: 'fr', agent: 'A', sandbox_api_key: null }, guards);
    const [applied] = (await apply({ text: edited, base, env: {} })).environments;
    expect(applied).toMatchObject({ status: 'applied', changes: [{ class: 'pending' }] });
  });
});

describe('the command', () => {
  async function drift(...args: string[]) {
    const { writeFileSync } = await import('node:fs');
    writeFileSync(`${folder.path}/settings.yaml`, file({ language: 'fr', agent: 'A' }));
    writeFileSync(`${folder.path}/base.yaml`, file({ language: 'en', agent: 'A' }));
    return setpoint(['drift', ...args], { cwd: folder.path });
  }

  it.each([
    ['an edit', { language: 'en', agent: 'A' }, 0, 2],
    ['drift', { language: 'fr', agent: 'theirs' }, 2, 0],
    ['both of one field', { language: 'theirs', agent: 'A' }, 2, 2],
    ['nothing', { language: 'fr', agent: 'A' }, 0, 0],
  ])('--fail-on distinguishes %s', async (_, stored, onDrift, onPending) => {
    store.stored = stored;
    expect((await drift('--base', 'base.yaml', '--fail-on', 'drift')).code).toBe(onDrift);
    expect((await drift('--base', 'base.yaml', '--fail-on', 'pending')).code).toBe(onPending);
    expect((await drift('--base', 'base.yaml')).code).toBe(Math.max(onDrift, onPending));
  });

  it('without --base it warns that drift and edits look the same, and --fail-on drift needs one', async () => {
    store.stored = { language: 'en', agent: 'A' };
    const { code, stdout } = await drift();
    expect(code).toBe(2);
    expect(stdout).toContain(
      'To distinguish drift from edits of the file, pass the file as last applied with --base.',
    );
    const refused = await drift('--fail-on', 'drift');
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain('needs --base');
    expect((await drift('--fail-on', 'drfit')).stderr).toContain('Did you mean drift?');
  });

  it('a run with nothing but pending edits reports them, and no drift', async () => {
    store.stored = { language: 'en', agent: 'A' };
    const edits = await drift('--base', 'base.yaml', '--fail-on', 'drift');
    expect(edits.code).toBe(0);
    expect(edits.stdout).toMatch(/^No drift\. \d+ pending edits?\.$/m);
    expect(edits.stdout).not.toContain('Drift:');
    store.stored = { language: 'en', agent: 'theirs' };
    const both = await drift('--base', 'base.yaml', '--fail-on', 'drift');
    expect(both.code).toBe(2);
    expect(both.stdout).toMatch(/^Drift: 1 difference\. 1 pending edit\.$/m);
  });

  it('shows the class of each change', async () => {
    store.stored = { language: 'en', agent: 'theirs' };
    const { stdout } = await drift('--base', 'base.yaml');
    expect(stdout).toMatch(/language {2}\[pending\]/);
    expect(stdout).toMatch(/agent {2}\[drift\]/);
  });

  it('a base that is not right is a usage error before anything is sent', async () => {
    const { code, stderr } = await drift('--base', 'nothing.yaml');
    expect(code).toBe(3);
    expect(stderr).toContain('nothing.yaml');
    expect(store.requests).toEqual([]);
  });
});

describe('--base reads only what the settings file may read', () => {
  const based = async (base: JsonRecord, env: Record<string, string>, command = 'plan') => {
    store.stored = { language: 'en', git_user_name: 'canary-not-for-the-file' };
    const files = { 'settings.yaml': file({ language: 'fr' }), 'base.yaml': file(base) };
    folder.remove();
    folder = folderWith(files);
    const args = command === 'apply' ? [command, '--yes'] : [command];
    const found = await setpoint([...args, '--base', 'base.yaml', '-o', 'json'], {
      cwd: folder.path,
      env: { PROBED: 'canary-not-for-the-file', ...env },
    });
    return { ...found, requests: store.requests.length };
  };

  it.each(['plan', 'drift', 'apply'])('%s: a variable that is not listed', async (command) => {
    const base = { git_user_name: '${env:PROBED}' };
    const found = await based(base, { SETPOINT_ALLOWED_VARIABLES: 'OTHER_*' }, command);
    expect(found).toMatchObject({ code: 3, requests: 0 });
    expect(found.stdout).toContain('not-allowed');
    expect(found.stderr).toContain('base.yaml: The file reads PROBED');
  });

  it('a variable that no settings file may read', async () => {
    const found = await based({ git_user_name: '${env:GITHUB_TOKEN}' }, { GITHUB_TOKEN: 'canary' });
    expect(found).toMatchObject({ code: 3, requests: 0 });
  });

  it('a file outside the folders of SETPOINT_ALLOWED_FILES has no value', async () => {
    const outside = folderWith({ secret: 'canary-not-for-the-file' });
    const found = await based({ git_user_name: `\${file:${outside.path}/secret}` }, {});
    outside.remove();
    expect(found.code).toBe(0);
    expect(found.stdout).not.toContain('canary');
  });

  it('a variable that is listed', async () => {
    const base = { language: '${env:PROBED}' };
    expect(await based(base, { SETPOINT_ALLOWED_VARIABLES: 'PROBED' })).toMatchObject({ code: 0 });
  });
});
