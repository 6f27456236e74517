import { statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { BOT, failing, rateLimited } from '../fixture/fake-github.ts';
import { bench, settingsFor } from './bench.ts';
import { FORK, HEAD, pullRequest } from './runner.ts';
import { dedent } from '../fixture/dedent.ts';
import { itEach } from '../fixture/long.ts';

const on = bench({ language: 'fr', llm_model: 'a-model' });
const PLAN = { command: 'plan' };
const NOT_WRITTEN = 'No comment was written';
const MARKER = '<!-- setpoint:plan environment=default -->';

function bodies(): string[] {
  return on.github.comments.map(({ body }) => body);
}

/** A pull request, and a file that differs from the service. */
function differing(): { event: object } {
  on.commit({ 'settings.yaml': settingsFor(on.store.url, '  language: en') });
  const { number } = on.github.open({ pull: true });
  return { event: pullRequest(number) };
}

it('writes the first plan into a comment, the same plan not again, another into the same comment', async () => {
  const { event } = differing();
  const first = await on.step({ inputs: PLAN, event, built: true });
  expect(first.code).toBe(0);
  expect(first.outputs).toMatchObject({ changes: '1', exit_code: '0', drift: 'false' });
  expect(bodies()).toHaveLength(1);
  const [body = ''] = bodies();
  expect(body.split('\n')[0]).toBe(MARKER);
  const meta = /^<!-- setpoint-meta (\{.*\}) -->$/.exec(body.split('\n')[1] ?? '')?.[1] ?? '';
  expect(JSON.parse(meta)).toEqual({
    v: 1,
    digest: expect.stringMatching(/^[0-9a-f]+$/),
    commit: HEAD,
  });
  expect(body).toContain('Plan: default — 1 to change');
  expect(body).toContain(HEAD.slice(0, 7));

  await on.step({ inputs: PLAN, event });
  expect(on.github.writes()).toEqual(['POST /issues/1/comments']);

  on.commit({ 'settings.yaml': settingsFor(on.store.url, '  language: de') });
  await on.step({ inputs: PLAN, event });
  const [{ id } = { id: 0 }] = on.github.comments;
  expect(on.github.writes()).toEqual(['POST /issues/1/comments', `PATCH /issues/comments/${id}`]);
  expect(bodies()[0]).toContain('de');
  expect(on.store.posts()).toBe(0);
});

it('turns to "no changes" when there are none any more', async () => {
  const { event } = differing();
  await on.step({ inputs: PLAN, event });
  on.commit({ 'settings.yaml': settingsFor(on.store.url, '  language: fr') });
  const { outputs } = await on.step({ inputs: PLAN, event });
  expect(outputs['changes']).toBe('0');
  expect(bodies()).toEqual([expect.stringContaining('Plan: default — no changes')]);
});

it('writes no comment on an environment that was clean from the start', async () => {
  on.commit({ 'settings.yaml': settingsFor(on.store.url, '  language: fr') });
  on.github.open({ pull: true });
  const { summary } = await on.step({ inputs: PLAN, event: pullRequest(1) });
  expect(on.github.writes()).toEqual([]);
  expect(summary).toContain('no changes');
});

it('has a comment for each of three environments, and rewrites only the one that has changed', async () => {
  const file = (language: string): string =>
    dedent`
      version: 1
      server: { url: "${on.store.url}", api_key: "\${env:KEY}" }
      settings: { language: en }
      environments:
        a: {}
        b: { settings: { language: ${language} } }
        c: { settings: { llm_model: other } }
    `;
  on.commit({ 'settings.yaml': file('de') });
  on.github.open({ pull: true });
  const event = pullRequest(1);
  const first = await on.step({ inputs: PLAN, event });
  expect(bodies().map((body) => body.split('\n')[0])).toEqual([
    '<!-- setpoint:plan environment=a -->',
    '<!-- setpoint:plan environment=b -->',
    '<!-- setpoint:plan environment=c -->',
  ]);
  expect(first.outputs['changes']).toBe('4');
  const before = on.github.writes().length;
  on.commit({ 'settings.yaml': file('es') });
  await on.step({ inputs: PLAN, event });
  const changed = on.github.comments[1]?.id;
  expect(on.github.writes().slice(before)).toEqual([`PATCH /issues/comments/${changed}`]);
});

it('leaves a comment of somebody else alone though it has the marker', async () => {
  const { event } = differing();
  const foreign = `${MARKER}\n<!-- setpoint-meta {"v":1,"digest":"00","commit":null} -->\nmine`;
  on.github.say(1, 'a-person', foreign);
  on.github.say(1, 'github-actions', foreign);
  await on.step({ inputs: PLAN, event });
  expect(on.github.writes()).toEqual(['POST /issues/1/comments']);
  expect(on.github.comments.map(({ author }) => author)).toEqual([
    'a-person',
    'github-actions',
    BOT,
  ]);
  expect(bodies().slice(0, 2)).toEqual([foreign, foreign]);
});

it('leaves its own comments of other tools and a quoted marker alone', async () => {
  const { event } = differing();
  on.github.say(1, BOT, `> ${MARKER}`);
  on.github.say(1, BOT, `hello\n${MARKER}`);
  await on.step({ inputs: PLAN, event });
  expect(on.github.writes()).toEqual(['POST /issues/1/comments']);
});

it('finds its comment on the fourth page', async () => {
  const { event } = differing();
  for (let count = 0; count < 330; count += 1) on.github.say(1, 'a-person', `comment ${count}`);
  const old = on.github.say(1, BOT, `${MARKER}\r\nold`);
  await on.step({ inputs: PLAN, event });
  expect(on.github.writes()).toEqual([`PATCH /issues/comments/${old.id}`]);
});

it('ends with one comment if two runs begin at once', async () => {
  const { event } = differing();
  // Each has read that there is none before the other writes.
  let waiting: (() => void)[] = [];
  let lists = 0;
  on.github.intercept = (request, _response, proceed) => {
    if (request.url?.includes('/comments') !== true || request.method !== 'GET') return false;
    if ((lists += 1) > 2) return false;
    waiting.push(proceed);
    if (waiting.length === 2) for (const go of waiting) go();
    return true;
  };
  const ended = await Promise.all([
    on.step({ inputs: PLAN, event, built: true }),
    on.step({ inputs: PLAN, event, built: true }),
  ]);
  waiting = [];
  expect(ended.map(({ code }) => code)).toEqual([0, 0]);
  expect(on.github.comments).toHaveLength(1);
});

it('keeps the oldest of its own comments if an interrupted run has left two', async () => {
  const { event } = differing();
  const one = on.github.say(1, BOT, `${MARKER}\nold`);
  on.github.say(1, BOT, `${MARKER}\nnewer`);
  await on.step({ inputs: PLAN, event });
  expect(on.github.comments).toEqual([{ ...one, body: expect.stringContaining('1 to change') }]);
});

it.each([
  [
    'a fork, whose token only reads',
    { 'github-token': FORK.token },
    FORK.repository,
    /comes from a fork/,
  ],
  ['no token', { 'github-token': '' }, undefined, /There is no token/],
  ['a token of nobody', { 'github-token': 'ghs_stranger' }, undefined, /refused the token/],
])('with %s: summary and annotations, one notice, green', async (_, inputs, from, words) => {
  differing();
  const ended = await on.step({ inputs: { ...PLAN, ...inputs }, event: pullRequest(1, from) });
  expect(ended.code).toBe(0);
  expect(on.github.comments).toEqual([]);
  expect(ended.summary).toContain('Plan: default — 1 to change');
  const notices = ended.commands.filter(({ name }) => name === 'notice');
  const [annotation, notice] = notices;
  expect(notices).toHaveLength(2);
  expect(annotation?.properties).toMatchObject({ file: 'settings.yaml', line: '4' });
  expect(notice?.properties['title']).toBe(NOT_WRITTEN);
  expect(notice?.message).toMatch(words);
});

it('comments on a closed pull request as on an open one, and gives a notice if it is locked', async () => {
  const { event } = differing();
  const [pull] = on.github.issues;
  Object.assign(pull ?? {}, { state: 'closed' });
  await on.step({ inputs: PLAN, event });
  expect(on.github.comments).toHaveLength(1);
  on.github.comments = [];
  Object.assign(pull ?? {}, { locked: true });
  const ended = await on.step({ inputs: PLAN, event });
  expect(ended.code).toBe(0);
  expect(ended.commands.at(-1)).toMatchObject({ name: 'notice' });
});

it('warns if there is no such pull request, and stays green', async () => {
  differing();
  const { code, commands } = await on.step({ inputs: PLAN, event: pullRequest(99) });
  expect(code).toBe(0);
  expect(commands.at(-1)).toMatchObject({
    name: 'warning',
    message: expect.stringContaining('(404)'),
  });
});

itEach([403, 429] as const, (status) => status === 429)(
  'waits as long as a %i demands, then comments',
  async (status) => {
    const { event } = differing();
    on.github.intercept = rateLimited(2, status, 1);
    const began = performance.now();
    const { code, commands } = await on.step({ inputs: PLAN, event, built: true });
    expect(performance.now() - began).toBeGreaterThan(2000);
    expect(code).toBe(0);
    expect(on.github.comments).toHaveLength(1);
    expect(commands.map(({ properties }) => properties['title'])).not.toContain(NOT_WRITTEN);
  },
);

it('does not wait an hour: a warning', async () => {
  const { event } = differing();
  on.github.intercept = rateLimited(1, 429, 3600);
  const { code, commands } = await on.step({ inputs: PLAN, event });
  expect(code).toBe(0);
  expect(commands.at(-1)?.message).toContain('received too many requests');
});

it('a good plan stays green while GitHub is down, and no comment is sent twice', async () => {
  const { event } = differing();
  on.github.intercept = failing(502, (method) => method === 'POST');
  const { code, commands, outputs, summary } = await on.step({ inputs: PLAN, event });
  expect(code).toBe(0);
  expect(outputs['exit_code']).toBe('0');
  expect(on.github.writes()).toEqual(['POST /issues/1/comments']);
  expect(commands.at(-1)).toMatchObject({
    name: 'warning',
    message: expect.stringContaining(
      'GitHub failed: POST /repos/acme/settings/issues/1/comments (502).',
    ),
  });
  expect(summary).toContain('1 to change');
});

it('repeats what can be sent twice', async () => {
  const { event } = differing();
  let failures = 1;
  on.github.intercept = failing(500, () => (failures -= 1) >= 0);
  await on.step({ inputs: PLAN, event });
  expect(on.github.comments).toHaveLength(1);
});

it('does not take a list that is cut off for an empty one', async () => {
  const { event } = differing();
  on.github.say(1, BOT, `${MARKER}\nold`);
  on.github.intercept = (request, response) => {
    if (request.method !== 'GET') return false;
    response.writeHead(200, { 'content-type': 'application/json', connection: 'close' });
    response.end('[{"id":1,"bo');
    return true;
  };
  const { code, commands } = await on.step({ inputs: PLAN, event });
  expect(code).toBe(0);
  expect(on.github.writes()).toEqual([]);
  expect(commands.at(-1)).toMatchObject({ name: 'warning' });
});

it('comment: false sends nothing to GitHub; nor does a push', async () => {
  const { event } = differing();
  await on.step({ inputs: { ...PLAN, comment: 'false' }, event });
  await on.step({ inputs: PLAN });
  expect(on.github.requests).toEqual([]);
});

it('fits a plan of far more than 70 kB', async () => {
  const entries = Array.from(
    { length: 500 },
    (_, index) => `      - { url: "https://mcp-${index}.example.com/mcp?q=${'ö'.repeat(100)}" }`,
  );
  const settings = `  mcp_config:\n    shttp_servers:\n${entries.join('\n')}`;
  on.commit({ 'settings.yaml': settingsFor(on.store.url, settings) });
  on.github.open({ pull: true });
  const { code, outputs } = await on.step({ inputs: PLAN, event: pullRequest(1) });
  expect(code).toBe(0);
  expect(outputs['changes']).toBe('500');
  expect(statSync(outputs['plan_path'] ?? '').size).toBeGreaterThan(70_000);
  const [body = ''] = bodies();
  expect(body.length).toBeGreaterThan(40_000);
  expect(body).toContain('500 to set');
});

it('reports that no plan could be made, and takes it back when one could', async () => {
  const { event } = differing();
  on.commit({ 'settings.yaml': settingsFor(on.store.url, '  langage: en') });
  const broken = await on.step({ inputs: PLAN, event });
  expect(broken.code).toBe(1);
  expect(broken.outputs['exit_code']).toBe('3');
  expect(bodies()).toEqual([expect.stringMatching(/^<!-- setpoint:failure -->\n/)]);
  expect(broken.commands.filter(({ name }) => name === 'error').at(-1)?.properties).toMatchObject({
    file: 'settings.yaml',
    line: '4',
  });
  on.commit({ 'settings.yaml': settingsFor(on.store.url, '  language: en') });
  await on.step({ inputs: PLAN, event });
  expect(bodies()).toEqual([
    expect.stringContaining('planned again'),
    expect.stringContaining('1 to change'),
  ]);
});

it('validates: annotations on the problems, a comment until they are fixed', async () => {
  const { event } = differing();
  const inputs = { command: 'validate', 'working-directory': 'deploy', files: 'settings.yaml' };
  on.commit({ 'deploy/settings.yaml': settingsFor(on.store.url, '  langage: en') });
  const broken = await on.step({ inputs, event });
  expect(broken.code).toBe(1);
  expect(broken.outputs).toMatchObject({ exit_code: '3', changes: '0', plan_path: '' });
  expect(broken.commands[0]).toMatchObject({
    name: 'error',
    properties: { file: 'deploy/settings.yaml', line: '4', col: '3' },
  });
  on.commit({ 'deploy/settings.yaml': settingsFor(on.store.url, '  language: en') });
  const mended = await on.step({ inputs, event });
  expect(mended.code).toBe(0);
  expect(mended.log).toContain('Valid: default.');
  expect(bodies()).toEqual([expect.stringMatching(/^<!-- setpoint:validation -->\n/)]);
  expect(on.store.requests).toEqual([]);
});

it('annotates paths from the root of the repository, wherever in the workspace it is', async () => {
  const { event } = differing();
  const inputs = { command: 'validate', 'working-directory': 'repository/deploy' };
  on.commit({
    'repository/.git/HEAD': 'ref: refs/heads/main',
    'repository/deploy/settings.yaml': settingsFor(on.store.url, '  langage: en'),
  });
  const { commands } = await on.step({ inputs, event });
  expect(commands[0]).toMatchObject({ properties: { file: 'deploy/settings.yaml' } });
});

it('leaves the comment of a newer commit to the run of that commit, and says so', async () => {
  const { event } = differing();
  const [pull] = on.github.issues;
  if (pull === undefined) throw new Error('no pull request');
  pull.headSha = 'b'.repeat(40);
  const { commands, code, summary } = await on.step({ inputs: PLAN, event });
  expect(code).toBe(0);
  expect(on.github.writes()).toEqual([]);
  expect(summary).toContain('1 to change');
  expect(commands).toContainEqual(
    expect.objectContaining({
      name: 'notice',
      properties: { title: 'The comments were left unchanged' },
    }),
  );
  pull.headSha = HEAD;
  await on.step({ inputs: PLAN, event });
  expect(on.github.writes()).toEqual(['POST /issues/1/comments']);
});

it('has one comment on many environments, and goes on updating those that there are', async () => {
  const file = (count: number, language: string): string => {
    const names = Array.from({ length: count }, (_, index) => `  e${index}: {}`).join('\n');
    return `version: 1\nserver: { url: "${on.store.url}", api_key: "\${env:KEY}" }\nsettings: { language: ${language} }\nenvironments:\n${names}\n`;
  };
  on.commit({ 'settings.yaml': file(2, 'en') });
  on.github.open({ pull: true });
  const event = pullRequest(1);
  await on.step({ inputs: PLAN, event });
  expect(bodies()).toHaveLength(2);
  on.commit({ 'settings.yaml': file(60, 'en') });
  await on.step({ inputs: PLAN, event });
  expect(bodies().map((body) => body.split('\n')[0])).toEqual([
    '<!-- setpoint:plan environment=e0 -->',
    '<!-- setpoint:plan environment=e1 -->',
    '<!-- setpoint:plan -->',
  ]);
  expect(bodies()[2]).toContain('60 environments');
  on.commit({ 'settings.yaml': file(60, 'fr') });
  await on.step({ inputs: PLAN, event });
  expect(bodies()).toHaveLength(3);
  for (const body of bodies()) expect(body).toMatch(/no changes/i);
});
