import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { folderWith } from '../../fixture/command.ts';
import { startStore } from '../../fixture/store-server.ts';
import { propertyRuns } from '../../fixture/property-runs.ts';
import { dedent } from '../../fixture/dedent.ts';
import { LONG } from '../../fixture/long.ts';

/** At how many moments a process is killed. */
const MOMENTS = propertyRuns(8);

const OPERATIONS = join(import.meta.dirname, '../../../src/reconciler/operations');
let work: string;
beforeAll(async () => {
  work = mkdtempSync(join(tmpdir(), 'setpoint-'));
  for (const name of ['pull', 'init']) {
    const entry = join(work, `${name}.mjs`);
    const operation = JSON.stringify(join(OPERATIONS, `${name}.ts`));
    writeFileSync(
      entry,
      `import { ${name} } from ${operation};
${name}({ env: process.env, force: true, server: process.env.AT || undefined }).then(() => process.stdout.write('done'));`,
    );
    const bundle = await rolldown({ input: entry, platform: 'node', logLevel: 'silent' });
    await bundle.write({
      file: join(work, `${name}-bundle.mjs`),
      format: 'esm',
      codeSplitting: false,
    });
  }
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

/** Runs an operation in a process of its own; killed after some milliseconds, if given. True if it came to its end. */
function run(
  name: string,
  cwd: string,
  env: Record<string, string>,
  after?: number,
): Promise<boolean> {
  const child = spawn(process.execPath, [join(work, `${name}-bundle.mjs`)], { cwd, env });
  const timer = after === undefined ? null : setTimeout(() => child.kill('SIGKILL'), after);
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return new Promise((resolve) => {
    child.on('close', () => {
      if (timer !== null) clearTimeout(timer);
      resolve(output === 'done');
    });
  });
}

it(
  `a pull that is killed at any of ${MOMENTS} moments leaves each file as it was or as it would be`,
  LONG,
  async () => {
    const store = await startStore({}, { language: 'fr', agent: 'B' });
    const text = dedent`
    version: 1
    extends: base.yaml
    server: { url: "${store.url}" }
    settings:
      language: en # c
  `;
    const base = 'version: 1\nsettings:\n  agent: A # c\n';
    const folder = folderWith({ 'settings.yaml': text, 'base.yaml': base });
    const read = (name: string): string => readFileSync(join(folder.path, name), 'utf8');
    try {
      const began = performance.now();
      expect(await run('pull', folder.path, {})).toBe(true);
      const whole = performance.now() - began;
      const after = [read('settings.yaml'), read('base.yaml')];
      expect(after).toEqual([
        text.replace('language: en', 'language: fr'),
        base.replace('agent: A', 'agent: B'),
      ]);
      for (let turn = 0; turn < MOMENTS; turn++) {
        writeFileSync(join(folder.path, 'settings.yaml'), text);
        writeFileSync(join(folder.path, 'base.yaml'), base);
        await run('pull', folder.path, {}, whole * (0.5 + turn / (2 * MOMENTS)));
        expect([text, after[0]]).toContain(read('settings.yaml'));
        expect([base, after[1]]).toContain(read('base.yaml'));
      }
      expect(await run('pull', folder.path, {})).toBe(true);
      expect([read('settings.yaml'), read('base.yaml')]).toEqual(after);
    } finally {
      folder.remove();
      await store.close();
    }
  },
);

it(
  `an init that is killed at any of ${MOMENTS} moments leaves no file that is cut off`,
  LONG,
  async () => {
    const store = await startStore({}, { language: 'fr', llm_api_key: 'x' });
    const names = ['settings.yaml', '.env.example', '.gitignore'];
    const whole = new Map<string, string>();
    let took = 0;
    for (let turn = 0; turn < MOMENTS; turn++) {
      const folder = folderWith({});
      try {
        const began = performance.now();
        const ended = await run(
          'init',
          folder.path,
          { AT: store.url },
          turn === 0 ? undefined : took * (0.5 + turn / (2 * MOMENTS)),
        );
        took ||= performance.now() - began;
        for (const name of names) {
          const path = join(folder.path, name);
          if (!existsSync(path)) continue;
          const text = readFileSync(path, 'utf8');
          if (turn === 0) whole.set(name, text);
          expect(text).toBe(whole.get(name));
        }
        if (ended) expect(readdirSync(folder.path).toSorted()).toEqual(names.toSorted());
        else if (existsSync(join(folder.path, 'settings.yaml')))
          expect(parse(readFileSync(join(folder.path, 'settings.yaml'), 'utf8'))).toMatchObject({
            version: 1,
          });
      } finally {
        folder.remove();
      }
    }
    await store.close();
  },
);
