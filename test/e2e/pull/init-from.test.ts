/** A first settings file of what people had before setpoint: valid, applied without a further change, and without a secret of theirs. */
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';
import { startEmulator } from '../../../src/emulator/start.ts';

const FILES = join(import.meta.dirname, '../../fixture/from');

let folder: ReturnType<typeof folderWith> | undefined;
afterEach(() => folder?.remove());

function here(files: Record<string, string> = {}): string {
  folder?.remove();
  folder = folderWith(files);
  return folder.path;
}

/** A folder with the examples of what people have. */
function examples(): string {
  const cwd = here();
  cpSync(FILES, cwd, { recursive: true });
  return cwd;
}

function read(cwd: string, name = 'settings.yaml'): string {
  return readFileSync(join(cwd, name), 'utf8');
}

interface Document {
  readonly variables: readonly { readonly name: string }[];
  readonly dialect: string;
  readonly status: string;
  readonly from: {
    readonly taken: number;
    readonly left: readonly { readonly place: string; readonly reason: string }[];
    readonly values: readonly { readonly variable: string; readonly place: string }[];
  };
}

/** The document of an init, after which neither it nor any file has a secret of the examples. */
async function initFrom(cwd: string, args: readonly string[], env: Record<string, string> = {}) {
  const flags = args.flatMap((one) => (one.startsWith('-') ? [one] : ['--from', one]));
  const ended = await setpoint(['init', ...flags, '-o', 'json'], { cwd, env });
  expect([ended.stderr, ended.code]).toEqual(['', 0]);
  const written = [read(cwd), read(cwd, '.env.example'), read(cwd, '.gitignore')];
  for (const text of [ended.stdout, ...written]) expect(text).not.toMatch(/canary/i);
  return JSON.parse(ended.stdout) as Document;
}

const KINDS: readonly (readonly [string, readonly string[]])[] = [
  ['a config.toml', ['config.toml']],
  ['an .env', ['openhands.env']],
  ['a compose file and its .env', ['docker-compose.yml', 'openhands.env']],
  ['Helm values', ['values.yaml']],
  ['mcp servers of other agents', ['mcp.json', 'vscode-mcp.json', 'codex.toml']],
  ['the folder of OpenHands', ['openhands']],
  ['the agent of OpenHands CLI', ['agent_settings.json']],
  ['all of them', ['config.toml', 'codex.toml', 'mcp.json', 'values.yaml', 'openhands.env']],
];
const DIALECTS = ['settings-v0', 'app-server', 'agent-server'] as const;

describe('init --from, validate, apply, plan', () => {
  for (const [kind, files] of KINDS)
    for (const dialect of DIALECTS)
      it(`${kind}, for ${dialect}: nothing is left to change`, async () => {
        const cwd = examples();
        const emulator = await startEmulator({
          dialect,
          gitProviders: [{ product: 'github', accepts: 'x-' }],
        });
        try {
          const args = [...files, `--server=${emulator.url}`, `--dialect=${dialect}`];
          const { variables, from, ...document } = await initFrom(cwd, args);
          expect(document).toMatchObject({ dialect, status: 'unread' });
          expect(from.taken).toBeGreaterThan(0);
          const env = Object.fromEntries(
            variables.map(({ name }) => [
              name,
              name.endsWith('URL')
                ? `https://${name.toLowerCase().replaceAll('_', '-')}.example.com/x`
                : `x-${name}`,
            ]),
          );
          const valid = await setpoint(['validate'], { cwd, env });
          expect([valid.stdout, valid.stderr]).toEqual(['Valid: default.\n', '']);
          const applied = await setpoint(['apply', '--yes', '-q'], { cwd, env });
          expect([applied.stderr, applied.code]).toEqual(['', 0]);
          const planned = await setpoint(['plan', '--exit-code'], { cwd, env });
          expect(planned.stdout).toContain('No changes.');
          expect(planned.code).toBe(0);
        } finally {
          await emulator.close();
        }
      });
});
