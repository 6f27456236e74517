/** Free text, unknown members and secrets of what a service keeps, planted wherever their types hang, and no document shows one. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { DialectName } from '../../../src/reconciler/model/dialect.ts';
import { type Definitions, type SchemaNode } from '../../../src/reconciler/model/json-schema.ts';
import { nativeSchema } from '../../../src/reconciler/model/native-schema.ts';
import { startFronted, type Fronted } from '../../fixture/before-service.ts';
import { setpoint } from '../../fixture/command-here.ts';
import { folderWith } from '../../fixture/command.ts';
import { describeEach } from '../../fixture/long.ts';

type Plain = Record<string, unknown>;

let planted = 0;

/** A text that nothing but its place says to be a secret. */
function canary(): string {
  planted += 1;
  return `plain canary ${planted}`;
}

function definition({ $ref = '' }: SchemaNode, defs: Definitions): SchemaNode {
  return defs[$ref.slice('#/$defs/'.length)] ?? {};
}

/** A record of a type as a service may answer it: a canary in each map of free JSON, in each secret, and under a name of a later release. */
function plantedIn(node: SchemaNode, defs: Definitions): Plain {
  const members = Object.entries(node.properties ?? {}).flatMap(([name, member]) => {
    const value = plantedMember(member, defs);
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(members), later_member: canary() };
}

function plantedMember(node: SchemaNode, defs: Definitions): unknown {
  if (node.$ref !== undefined) return plantedIn(definition(node, defs), defs);
  if (node.format === 'password') return canary();
  const { additionalProperties: others, properties } = node;
  if (others === true && properties === undefined)
    return { headers: { Authorization: `Bearer ${canary()}` }, nested: [{ note: canary() }] };
  return undefined;
}

/** The members of an agent profile that are free. */
const AGENT = {
  tools: () => [{ name: 'terminal', params: { env: { API_KEY: canary() }, note: canary() } }],
  later_member: () => ({ note: canary() }),
};

/** Answers in which everything that a client cannot check is planted. */
function plant(front: Fronted, dialect: DialectName): void {
  const $defs: Definitions = nativeSchema(dialect)?.$defs ?? {};
  const all = plantedIn($defs['LLM'] ?? {}, $defs);
  // A write of a profile with keys that the file does not declare is refused there, so that there would be no plan.
  const isKept = ([name]: readonly [string, unknown]) =>
    dialect === 'agent-server' || !name.startsWith('aws_');
  const llm = Object.fromEntries(Object.entries(all).filter(isKept));
  front.changed = ({ path }, reply) => {
    const body = reply.body as Plain;
    if (typeof body !== 'object' || body === null) return reply;
    if (path.endsWith('/profiles/main'))
      return { ...reply, body: { ...body, config: { ...(body['config'] as Plain), ...llm } } };
    if (path.endsWith('/agent-profiles/r')) {
      const more = Object.entries(AGENT).map(([name, make]) => [name, make()]);
      const profile = { ...(body['profile'] as Plain), ...Object.fromEntries(more) };
      return { ...reply, body: { ...body, profile } };
    }
    return reply;
  };
}

const DOCUMENTS = [
  ['plan'],
  ['plan', '-v'],
  ...['json', 'markdown', 'html'].map((format) => ['plan', '-o', format]),
  ['drift', '-o', 'markdown'],
  ['drift', '-o', 'json'],
  ['drift', '-o', 'github'],
  ['get', 'settings,llm_profiles,agent_profiles', '-o', 'json=snapshot.json'],
  ['get', 'llm_profiles,agent_profiles'],
  ['explain', 'llm_profiles.main'],
  ['explain', 'agent_profiles.r'],
  ['plan', '-q', '--out', 'plan.json'],
  ['pull', '--adopt', 'all'],
  ['pull'],
] as const;

describeEach(['agent-server', 'app-server'] as const, (dialect) => dialect === 'agent-server')(
  'what only a service of %s has',
  (dialect) => {
    it('is in no document, file or journal', async () => {
      const folder = folderWith({});
      const front = await startFronted({
        dialect,
        apiKey: 'k',
        data: join(folder.path, 'data', 'store.json'),
      });
      onTestFinished(async () => {
        await front.close();
        folder.remove();
      });
      const isAgent = dialect === 'agent-server';
      const [base, profiles] = isAgent
        ? ['/api', '/api/profiles']
        : ['/api/v1', '/api/v1/settings/profiles'];
      if (!isAgent) await front.ask('POST', `${base}/settings`, { language: 'en' });
      await front.ask('POST', `${profiles}/main`, { llm: { model: 'openai/gpt-5' } });
      if (isAgent) await front.ask('POST', '/api/agent-profiles/r', { llm_profile_ref: 'main' });
      plant(front, dialect);
      const agents = isAgent ? 'agent_profiles: { r: { llm_profile: main, persona: new } }\n' : '';
      const text = `version: 1\nserver: { url: "${front.url}" }\nllm_profiles: { main: { model: openai/gpt-5, temperature: 0.5 } }\n${agents}`;
      const run = (args: readonly string[]) => setpoint([...args], { cwd: folder.path, env: {} });
      const shown: string[] = [];
      for (const args of DOCUMENTS) {
        writeFileSync(join(folder.path, 'settings.yaml'), text);
        const { stdout, stderr, code } = await run(args);
        if (/canary/.test(stdout + stderr)) shown.push(args.join(' '));
        expect([args, code]).not.toEqual([args, 3]);
      }
      const initial = await run(['init', '--server', front.url, '-f', 'new.yaml']);
      expect(initial.stderr).toBe('');
      const applied = await run(['apply', '--yes', '--journal', 'journal', '-f', 'settings.yaml']);
      if (/canary/.test(applied.stdout + applied.stderr + initial.stdout))
        shown.push('apply or init');
      expect(shown).toEqual([]);
      expect(readFileSync(join(folder.path, 'plan.json'), 'utf8')).toContain('later_member');
      const files = readdirSync(folder.path, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && !entry.parentPath.endsWith('data'))
        .map((entry) => join(entry.parentPath, entry.name));
      expect(existsSync(join(folder.path, 'snapshot.json'))).toBe(true);
      const leaks = files.filter((file) => /canary/.test(readFileSync(file, 'utf8')));
      expect(leaks).toEqual([]);
    });
  },
);
