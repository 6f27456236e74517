import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { startEmulator, type Emulator } from '../../../src/emulator/start.ts';
import type { PlanDocument } from '../../../src/reconciler/model/plan.ts';
import { apply } from '../../../src/reconciler/operations/apply.ts';
import { get } from '../../../src/reconciler/operations/get.ts';
import { loadTargets } from '../../../src/reconciler/operations/load.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';
import { LONG, itEach } from '../../fixture/long.ts';

const ROOT = join(import.meta.dirname, '../../..');
const EXAMPLES = join(ROOT, 'examples');
let service: Emulator | undefined;
afterEach(() => service?.close());

// Helm and Argo CD name their files themselves.
const FOREIGN = /^kubernetes\/(?:argo-cd|chart)\//;

const files = readdirSync(EXAMPLES, { recursive: true, encoding: 'utf8' }).filter(
  (path) => path.endsWith('.yaml') && !path.endsWith('base.yaml') && !FOREIGN.test(path),
);

describe('the examples', () => {
  it.each(files)('%s is valid', (path) => {
    const { targets, diagnostics } = loadTargets({ file: join(EXAMPLES, path), env: {} });
    expect(diagnostics).toEqual([]);
    expect(targets.length).toBeGreaterThan(0);
  });

  itEach(files, (_, index) => index % 9 === 0)(
    '%s applies under its own guards, and a second time there is nothing to do',
    async (path) => {
      await appliesTwice(
        readdirSync(dirname(join(EXAMPLES, path)))
          .filter((name) => name.endsWith('.yaml'))
          .map(
            (name) => [name, readFileSync(join(EXAMPLES, dirname(path), name), 'utf8')] as const,
          ),
        basename(path),
      );
    },
  );

  it(
    'sandboxes: started by the first morning, paused every evening, resumed every other morning',
    LONG,
    async () => {
      service = await startEmulator({ startMs: 0 });
      const file = join(EXAMPLES, 'sandboxes/settings.yaml');
      const options = { file, server: service.url, env: {} };
      const seen: string[] = [];
      for (const targets of [['day'], ['night'], ['day'], ['night']]) {
        const { environments } = await apply({ ...options, targets });
        const { environments: observed } = await get({
          ...options,
          targets,
          resources: ['sandboxes'],
        });
        const changes = environments[0]?.changes.map(({ action }) => action) ?? [];
        const states = observed[0]?.sandboxes?.map(({ status }) => status) ?? [];
        seen.push(`${changes.join(' ')}: ${states.join(' ')}`);
      }
      expect(seen).toEqual([
        'start start: RUNNING RUNNING',
        'pause pause: PAUSED PAUSED',
        'resume resume: RUNNING RUNNING',
        'pause pause: PAUSED PAUSED',
      ]);
    },
  );
});

/** Every block of YAML in the documentation; a part of a file is put into a whole one. */
const BLOCKS = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true }).map((name) => `docs/${String(name)}`),
]
  .filter((path) => path.endsWith('.md'))
  .flatMap((path) =>
    [...readFileSync(join(ROOT, path), 'utf8').matchAll(/^```ya?ml\n([^]*?)^```$/gm)].map(
      ([, block = ''], index) => [`${path}, ${index + 1}`, block] as const,
    ),
  )
  // A certificate is a file: client-certificates.test.ts makes some.
  .filter(([, block]) => !/^ +client_cert:/m.test(block))
  // A service installs these from a source that a test cannot reach.
  .filter(([, block]) => !/^(skills|plugins|canvas_extensions):/m.test(block))
  .filter(([, block]) => !/^# (\.github\/|prometheus\.yml|notify\.yaml|\/etc\/)/.test(block));

describe('the YAML of the documentation', () => {
  it('is found', () => expect(BLOCKS.length).toBeGreaterThanOrEqual(3));

  itEach(BLOCKS, (_, index) => index % 9 === 0)(
    '%s applies under its own guards, and a second time there is nothing to do',
    async (_, block) => {
      const whole = /^version:/m.test(block);
      const text = whole
        ? block
        : `version: 1\nserver: { url: "https://agents.example.com" }\n${/^settings:/m.test(block) ? '' : 'settings: { language: en, sandbox_api_key: null }\n'}${block}`;
      await appliesTwice([['settings.yaml', text]], 'settings.yaml');
    },
  );
});

const AGENT_SERVERS =
  /^(provider_connections|meta_profiles|agent_profiles|automations|webhooks|workspace_parents|workspaces):/m;

/** The first kind of server that has all that a file declares. */
function dialectFor(text: string): 'settings-v0' | 'app-server' | 'agent-server' {
  if (AGENT_SERVERS.test(text)) return 'agent-server';
  const isLater = /^( *agent_settings|llm_profiles|marketplaces|disabled_skills):/m.test(text);
  return isLater ? 'app-server' : 'settings-v0';
}

/**
 * Applies every environment of a file to services that hold settings already, each with a key, and a second time. The copy
 * names the services of the test, and secret files beside it.
 */
async function appliesTwice(
  texts: readonly (readonly [string, string])[],
  file: string,
): Promise<void> {
  const secrets = texts.flatMap(([, text]) =>
    [...text.matchAll(/\$\{file:\/run\/secrets\/([\w/-]+)\}/g)].map(
      ([, name = '']) => [name, `secret-of-${name}`] as const,
    ),
  );
  const folder = folderWith(
    Object.fromEntries([
      ...secrets.map(([name, text]) => [`secrets/${name}`, text]),
      ['.keep', ''],
    ]),
  );
  const services: Emulator[] = [];
  try {
    const urls = new Map<string, string>();
    for (const [, text] of texts)
      for (const [url] of text.matchAll(
        /https:\/\/(?:staging|agents|[\w-]+\.agents|automations|internal|acme|globex|initech)\.example\.com|http:\/\/(?:127\.0\.0\.1:(?:3000|9)|0\.0\.0\.0:4555)\b/g,
      )) {
        if (urls.has(url)) continue;
        const dialect = dialectFor(text);
        const begun = await startEmulator({
          startMs: 0,
          dialect,
          specs: ['ghcr.io/example/base:1', 'ghcr.io/example/agent:1'],
          gitProviders: [
            { product: 'github', accepts: 'value-of' },
            { product: 'gitlab', host: 'gitlab.example.com', accepts: 'value-of' },
          ],
        });
        services.push(begun);
        const path = dialect === 'app-server' ? '/api/v1/settings' : '/api/settings';
        const isAgent = dialect === 'agent-server';
        const stored = await fetch(begun.url + path, {
          method: isAgent ? 'PATCH' : 'POST',
          headers: { 'content-type': 'application/json' },
          body: isAgent
            ? '{"misc_settings_diff":{"app_preferences":{"language":"de"}}}'
            : '{"language":"de"}',
        });
        expect(stored.status).toBe(200);
        urls.set(url, begun.url);
      }
    const env: Record<string, string> = {
      SETPOINT_ALLOWED_FILES: `${folder.path}/secrets`,
      SETPOINT_SECRET_COMMANDS: '{"store": ["echo", "value-of-{}"]}',
    };
    for (const [name, text] of texts) {
      for (const [, variable = '', otherwise] of text.matchAll(/\$\{env:(\w+)(:-)?/g))
        if (otherwise === undefined) env[variable] = `value-of-${variable.toLowerCase()}`;
      const copy = [...urls].reduce((all, [url, at]) => all.replaceAll(url, at), text);
      writeFileSync(
        join(folder.path, name),
        copy.replaceAll('/run/secrets', `${folder.path}/secrets`),
      );
    }
    const options = { cwd: folder.path, env };
    const names = JSON.parse(
      (await setpoint(['plan', '-f', file, '-o', 'json'], options)).stdout,
    ) as PlanDocument;
    for (const { name } of names.environments) {
      const args = ['apply', '-f', file, '-e', name, '--yes', '--no-color'];
      const first = await setpoint(args, options);
      expect(first.stderr).not.toContain('setpoint:');
      expect(first.code).toBe(0);
      expect(first.stdout).toMatch(/^(Applied \d+ changes?|No changes)\./m);
      const second = await setpoint(args, options);
      expect([second.code, second.stderr]).toEqual([0, '']);
      expect(second.stdout).toMatch(/^No changes\./m);
      expect(second.stdout).not.toMatch(/[?~+-] sandbox_api_key/);
    }
  } finally {
    for (const one of services) await one.close();
    folder.remove();
  }
}
