import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseDocument } from 'yaml';
import { blocksIn, commandsIn, fileIn, type ShownCommand, textOfPage } from '../docs/pages.ts';
import { asked, CANARY, startWorld, type World } from '../fixture/loop/world.ts';
import { startRealServer } from './real-server.ts';
import { theRelease } from './releases.ts';

const { release, venv } = theRelease();
const PAGE = 'docs/guides/rebuild.md';
const blocks = blocksIn(textOfPage(PAGE));
const { lacks = [] } = release;
const file = withoutLacking(blocks.map(fileIn).find((one) => one?.name === 'settings.yaml')?.text);
const [exported, ...commands] = commandsOf('console');
const [allowed] = commandsOf('sh');

describe('a lost server', () => {
  if (release.dialect !== 'agent-server') return it.skip('is a story of an Agent Server');

  it('is rebuilt by the file and the commands of the guide, word for word', async () => {
    const server = await startRealServer(release, venv);
    const world = await startWorld(server);
    try {
      for (const [name = ''] of exported?.command.matchAll(/\w+(?==)/g) ?? [])
        if (name !== 'SETPOINT_API_KEY') world.env[name] = `${CANARY}-${name}`;
      writeFileSync(join(world.folder, 'settings.yaml'), atTap(world, file));
      await asShown(world, commands);
      const before = await everything(world);
      await server.stop();
      server.empty();
      await server.start();
      expect((await server.secrets()).custom).toEqual({});
      // With fingerprints of secrets that are gone the guide's first command is refused, and it has another one for that.
      const refused = await world.run(argumentsOf(commands[0]), 5);
      expect(refused.stderr).toContain('secrets-gone');
      const applied = await world.run(argumentsOf(allowed), 0);
      const shown = commands.flatMap(({ output }) => output);
      if (lacks.length === 0)
        expect(applied.stdout.match(/^Applied .*/gm)).toEqual(
          shown.filter((line) => line.startsWith('Applied ')),
        );
      await asShown(world, commands.slice(1));
      expect(await everything(world)).toEqual(before);
    } finally {
      await world.close();
    }
  });
});

/** The guide's file, without what this release does not have. */
function withoutLacking(text = ''): string {
  const document = parseDocument(text);
  for (const path of lacks.map((one) => one.split('.')))
    if (document.hasIn(path)) document.deleteIn(path);
  return lacks.length === 0 ? text : document.toString();
}

/** The page's address is that of a server that is not there. */
function atTap({ tap }: World, text: string): string {
  return text.replaceAll('https://agents.example.com', tap.url);
}

function commandsOf(language: string): readonly ShownCommand[] {
  return blocks.filter((one) => one.language === language).flatMap(commandsIn);
}

function argumentsOf(shown: ShownCommand | undefined): readonly string[] {
  return shown?.command.split(' ').slice(1) ?? [];
}

/** Runs commands of the guide, which print what the guide shows, of its whole file. */
async function asShown(world: World, shown: readonly ShownCommand[]): Promise<void> {
  for (const one of shown) {
    const { stdout } = await world.run(argumentsOf(one), one.exit);
    if (lacks.length > 0) continue;
    expect(stdout.trimEnd()).toBe(atTap(world, one.output.join('\n')).trimEnd());
  }
}

/** What the server has of what the file declares, secrets in clear; ids and times are its own. */
async function everything(world: World): Promise<unknown> {
  const reveal = { 'X-Expose-Secrets': 'plaintext' };
  const read = (path: string) => asked(world, 'GET', path, undefined, reveal);
  const { custom } = await world.server.secrets();
  const paths = [
    '/api/settings',
    '/api/profiles/main',
    '/api/profiles/cheap',
    ...(lacks.includes('meta_profiles') ? [] : ['/api/meta-profiles/router']),
    '/api/agent-profiles/reviewer',
  ];
  const answers = await Promise.all(paths.map(read));
  const text = JSON.stringify(answers).replaceAll(ID, 'ID');
  for (const name of ['TEAM_KEY', 'CHEAP_KEY']) expect(text).toContain(`${CANARY}-${name}`);
  expect(custom['JIRA_TOKEN']?.value).toBe(`${CANARY}-JIRA_TOKEN`);
  return { custom, answers: JSON.parse(text) as unknown };
}

const ID =
  /[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)/g;
