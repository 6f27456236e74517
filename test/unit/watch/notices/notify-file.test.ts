import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { referenceSource } from '../../../../src/reconciler/host/reference-source.ts';
import type { NotifySettings } from '../../../../src/controller/watch/notices/receiver.ts';
import {
  NotifyInvalid,
  parseNotify,
} from '../../../../src/controller/watch/notices/notify-file.ts';
import { dedent } from '../../../fixture/dedent.ts';

const VARIABLES = {
  SLACK: 'https://hooks.slack.com/services/T0/B0/canary-in-the-address',
  TOKEN: 'canary-token',
  PLAIN: 'not an address',
  FAR: 'http://192.0.2.1/ping',
  FAR_6: 'http://[fe80::1]/',
  NEAR: 'http://127.0.0.1:9/',
};
const SCHEMA = JSON.parse(
  readFileSync(new URL('../../../../schemas/notify.schema.json', import.meta.url), 'utf8'),
) as object;
const fitsSchema = new Ajv2020({ strict: false }).compile(SCHEMA);

function read(text: string): NotifySettings {
  return parseNotify('notify.yaml', text, referenceSource(VARIABLES));
}

function problems(text: string): string[] {
  try {
    read(text);
    return [];
  } catch (thrown) {
    if (!(thrown instanceof NotifyInvalid)) throw thrown;
    return thrown.diagnostics.map(({ line, code, message }) => `${line} ${code} ${message}`);
  }
}

const COMPLETE = dedent`
  version: 1
  page: https://setpoint.example.com/
  notify:
    - name: team
      slack: \${env:SLACK}
      environments: ["prod-*", staging]
      selector: tier in (prod,canary)
      statuses: [drift, error]
      events: [opened, resolved, failing]
      reminder: 24h
    - name: pager
      alertmanager: http://127.0.0.1:9093
      headers: { Authorization: "Bearer \${env:TOKEN}", X-Scope-OrgID: team }
    - name: hook
      json: https://hooks.example.com/setpoint
    - name: space
      json: https://chat.example.com/v1/spaces
      body: { text: "{text}", key: "\${env:TOKEN}", tags: [setpoint, 1] }
    - name: server
      discord: \${env:SLACK}
    - name: call
      pagerduty: \${env:TOKEN}
    - name: issues
      github_issue: example/settings
      token: \${env:TOKEN}
  heartbeat:
    url: \${env:SLACK}
    every: 1m
`;

describe('a file of --notify', () => {
  it('says who is told where, of what and when', () => {
    const { page, receivers, heartbeat } = read(COMPLETE);
    expect(page).toBe('https://setpoint.example.com');
    expect(receivers.map(({ name, to }) => [name, to.form])).toEqual([
      ['team', 'slack'],
      ['pager', 'alertmanager'],
      ['hook', 'json'],
      ['space', 'json'],
      ['server', 'discord'],
      ['call', 'pagerduty'],
      ['issues', 'github-issue'],
    ]);
    const [team, pager] = receivers;
    expect(team).toMatchObject({ environments: ['prod-*', 'staging'], reminder: 86_400_000 });
    expect([...(team?.statuses ?? [])]).toEqual(['drift', 'error']);
    expect([...(team?.events ?? [])]).toEqual(['opened', 'resolved', 'failing', 'reminder']);
    expect([...(pager?.statuses ?? [])]).toEqual(['drift', 'conflict', 'refused', 'error']);
    expect(heartbeat?.every).toBe(60_000);
    expect(JSON.stringify(receivers)).not.toContain('canary');
  });

  it.each([
    ['no version', 'notify: []', ['1 missing-key The file has no version.']],
    [
      'a key that is not known',
      'version: 1\nnotifiy: []',
      ['2 unknown-key This file has no such key.'],
    ],
    [
      'an address of Slack that is written out',
      'version: 1\nnotify:\n  - name: a\n    slack: https://hooks.slack.com/services/T0/B0/x',
      ['4 literal-secret slack is a secret, and does not belong in this file.'],
    ],
    [
      'a token that is written out',
      'version: 1\nnotify:\n  - { name: a, github_issue: o/r, token: ghp_x }',
      ['3 literal-secret token is a secret, and does not belong in this file.'],
    ],
    [
      'a header that is written out',
      'version: 1\nnotify:\n  - name: a\n    json: https://x.example\n    headers: { Authorization: Basic eHg6eHg= }',
      ['5 literal-secret This header is a secret, and does not belong in this file.'],
    ],
    [
      'a url with a password',
      'version: 1\nnotify:\n  - { name: a, json: "https://u:p@x.example/" }',
      ['3 literal-secret json is a secret, and does not belong in this file.'],
    ],
    [
      'a body without the message, one that is no map, and a secret in one',
      dedent`
        version: 1
        notify:
          - { name: a, json: "https://x.example", body: { text: hello } }
          - { name: b, json: "https://x.example", body: "{text}" }
          - { name: c, json: "https://x.example", body: { text: "{text}", key: ghp_0123456789abcdefghij0123456789abcdef } }
          - { name: d, slack: "\${env:SLACK}", body: { text: "{text}" } }
      `,
      [
        '3 bad-value body would never contain the message.',
        '4 wrong-type body is a map.',
        '5 literal-secret This text is a secret, and does not belong in this file.',
        '6 unknown-key body means nothing for slack.',
      ],
    ],
    [
      'a variable that is not set',
      'version: 1\nnotify:\n  - name: a\n    teams: ${env:MISSING}',
      ['4 bad-reference teams has no value: the variable MISSING is not set.'],
    ],
    [
      'a variable that holds no address',
      'version: 1\nnotify:\n  - name: a\n    teams: ${env:PLAIN}',
      ['4 bad-value teams is not an https address.'],
    ],
    [
      'http to another machine',
      'version: 1\nnotify:\n  - { name: a, json: "http://x.example/" }',
      ['3 bad-value json is not an https address.'],
    ],
    [
      'a token that would cross the network in clear text',
      'version: 1\nnotify:\n  - { name: a, github_issue: o/r, token: "${env:PLAIN}", api_url: "http://192.0.2.1/api/v3" }',
      ['3 bad-value api_url is not an https address.'],
    ],
    [
      'a heartbeat over http to another machine',
      'version: 1\nheartbeat:\n  url: ${env:FAR}',
      ['3 bad-value url is not an https address.'],
    ],
    [
      'http to an IPv6 address, which has no dot either',
      'version: 1\nnotify:\n  - { name: a, json: "http://[2001:db8::1]/" }\nheartbeat: { url: "${env:FAR_6}" }',
      ['3 bad-value json is not an https address.', '4 bad-value url is not an https address.'],
    ],
    [
      'two addresses',
      'version: 1\nnotify:\n  - { name: a, json: "https://x.example", alertmanager: "https://y.example" }',
      ['3 missing-key A receiver needs exactly one address.'],
    ],
    [
      'a name twice',
      'version: 1\nnotify:\n  - { name: a, json: "https://x.example" }\n  - { name: a, json: "https://x.example" }',
      ['4 declared-twice Another receiver has this name.'],
    ],
    [
      'words, times and labels that are none',
      dedent`
        version: 1
        notify:
          - name: a
            json: https://x.example
            statuses: [drifted]
            events: [changed]
            reminder: 5s
            selector: "tier in"
            token: \${env:TOKEN}
      `,
      [
        '5 bad-value statuses has no such word.',
        '9 unknown-key token means nothing for json.',
        '3 bad-value This receiver would never get a notice of a problem.',
        '7 bad-value reminder is a time, from 60s to 168h.',
        '8 bad-value ',
      ],
    ],
    ['no YAML', 'version: 1\nnotify: []\nheartbeat', ['3 syntax ']],
  ])('names every problem and its place: %s', (_, text, expected) => {
    const found = problems(text);
    for (const one of expected) expect(found.some((problem) => problem.startsWith(one))).toBe(true);
    expect(found.length).toBe(expected.length);
  });

  it.each([
    'https://x.example/',
    'http://127.0.0.1:9/',
    'http://[::1]:9/',
    'http://gitea:3000/',
    'http://hooks.team.svc/',
  ])('every address may be %s', (address) => {
    const text = `version: 1\nnotify:\n  - { name: a, json: "${address}" }\n  - { name: b, github_issue: o/r, token: "\${env:PLAIN}", api_url: "${address}" }\nheartbeat: { url: "\${env:NEAR}" }`;
    expect(problems(text)).toEqual([]);
  });

  it('is described by its schema, which refuses what the file may not say', () => {
    expect(fitsSchema(parse(COMPLETE))).toBe(true);
    for (const text of [
      'notify: []',
      'version: 1\nnotifiy: []',
      'version: 1\nnotify:\n  - { name: a, slack: "https://hooks.slack.com/x" }',
      'version: 1\nnotify:\n  - { name: a }',
      'version: 1\nnotify:\n  - { name: a, json: "https://x", alertmanager: "https://y" }',
      'version: 1\nnotify:\n  - { name: a, github_issue: o/r }',
      'version: 1\nnotify:\n  - { name: a, json: "https://x", events: [changed] }',
      'version: 1\nnotify:\n  - { name: a, slack: "${env:SLACK}", body: { text: "{text}" } }',
    ]) {
      expect(fitsSchema(parse(text)), text).toBe(false);
      expect(problems(text), text).not.toEqual([]);
    }
  });

  it('is valid as the guide shows it', () => {
    const guide = readFileSync(
      new URL('../../../../docs/guides/notices.md', import.meta.url),
      'utf8',
    );
    const [, shown = ''] = /```yaml\n(# notify\.yaml\n[^]*?)```/.exec(guide) ?? [];
    const source = {
      variable: () => 'https://hooks.example.com/x',
      file: () => ({ text: 'https://hooks.example.com/x' }),
    };
    expect(parseNotify('notify.yaml', shown, source).receivers).toHaveLength(8);
    expect(fitsSchema(parse(shown))).toBe(true);
  });

  it('shows no secret in what is said of it', () => {
    const text = COMPLETE.replace(
      'alertmanager: http://127.0.0.1:9093',
      'alertmanager: ${env:TOKEN}',
    );
    try {
      read(text);
      expect.unreachable();
    } catch (thrown) {
      const { diagnostics } = thrown as NotifyInvalid;
      expect(diagnostics).toHaveLength(1);
      expect(JSON.stringify(diagnostics)).not.toContain('canary');
    }
  });
});
