import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { recordService } from '../../../src/reconciler/operations/record.ts';
import { asMember, startOrganization } from '../../fixture/organization.ts';

function place(): string {
  const folder = mkdtempSync(join(tmpdir(), 'record-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'answers.json');
}

const SAVED = {
  language: 'CANARY-language',
  git_user_name: 'CANARY Ada Lovelace',
  git_user_email: 'canary-ada@example.com',
  search_api_key: 'CANARY-search',
  agent_settings_diff: {
    llm: { model: 'canary/model', api_key: 'CANARY-llm', base_url: 'https://canary.example.com' },
    mcp_config: {
      canary_tools: {
        url: 'https://canary.example.com/mcp?key=CANARY',
        headers: { 'X-Canary': 'CANARY' },
      },
    },
  },
};

it('writes what a service answers, by GET alone, and nothing that is a person, a name or a secret', async () => {
  const service = await startOrganization({ name: 'Canary Corporation' });
  expect(await service.send('k-member', 'POST', '/api/v1/settings', SAVED)).toBe(200);
  service.seen.length = 0;
  const record = place();
  const asked = asMember(service, '  language: en\n');
  expect(await recordService({ ...asked, record })).toEqual({ answers: 12 });
  expect(new Set(service.seen.map(({ method }) => method))).toEqual(new Set(['GET']));
  const text = readFileSync(record, 'utf8');
  expect(text).not.toMatch(/canary|ada|example\.com|00000000-|member-3/i);
  expect(text).not.toContain('k-member');
  expect(statSync(record).mode & 0o777).toBe(0o600);
  const { exchanges } = JSON.parse(text) as { exchanges: Record<string, unknown>[] };
  const at = (path: string) => exchanges.find((one) => one['path'] === path);
  expect(at('/saas')).toEqual({
    method: 'GET',
    path: '/saas',
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: { saas: true },
  });
  expect(at('/api/keys/current')).toMatchObject({
    body: { org_id: 'id-2', bound_org_id: 'id-2', auth_type: 'bearer' },
  });
  expect(at('/api/organizations/id-2/me')).toMatchObject({
    body: {
      role: 'member',
      org_id: 'id-2',
      permissions: ['view_llm_settings', 'view_org_settings'],
    },
  });
  expect(at('/api/organizations/id-2/members/count')).toMatchObject({ status: 200, body: 5 });
  expect(at('/api/v1/settings')).toMatchObject({
    body: {
      llm_api_key_set: true,
      git_user_name: expect.stringMatching(/^name-\d+$/) as string,
    },
  });
});

it('leaves a file that is there as it is, unless it is forced, and asks nothing before', async () => {
  const service = await startOrganization();
  const record = place();
  writeFileSync(record, 'mine');
  const asked = asMember(service, '  language: en\n');
  expect(() => recordService({ ...asked, record })).toThrow(/is there already/);
  expect(readFileSync(record, 'utf8')).toBe('mine');
  expect(service.seen).toEqual([]);
  await recordService({ ...asked, record, replace: true });
  expect(readFileSync(record, 'utf8')).toContain('"kind": "recording"');
});

it('takes one environment, and records a service without organisations as well', async () => {
  const service = await startOrganization();
  const asked = asMember(service, '  language: en\n');
  const two = `${asked.text}environments: { one: {}, two: {} }\n`;
  await expect(recordService({ ...asked, text: two, record: place() })).rejects.toThrow(
    /takes one environment/,
  );
  service.instead = ({ path }) =>
    /saas|keys|organ/.test(path) ? { status: 200, type: 'text/html', body: '<p>canary</p>' } : null;
  const record = place();
  await recordService({ ...asked, record });
  const text = readFileSync(record, 'utf8');
  expect(text).not.toContain('canary');
  expect(text).toContain('text/html');
});
