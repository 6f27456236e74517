import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

/** The tests of each sentence under "What setpoint defends" of SECURITY.md, which goes by its first words. */
const CLAIMS: Readonly<Record<string, readonly (readonly [file: string, title: string])[]>> = {
  'A secret is an object': [
    ['unit/model/secret.test.ts', 'every string form of a secret is the mask'],
  ],
  'What a reference named': [
    [
      'unit/service/conceal.test.ts',
      'members of mcp entries and lists that are not known are masked',
    ],
    ['unit/desired/mcp.test.ts', 'userinfo and query of a url are masked'],
    ['faults/hostile-body.test.ts', 'M24: wraps what the service answers in clear'],
  ],
  'Every document then goes': [
    ['unit/model/redactor.test.ts', 'is masked in each of seventeen forms'],
    ['unit/model/redactor.test.ts', 'T7: a short value is masked only as the whole of a text'],
    ['unit/model/identity.test.ts', 'urls inside of text lose their userinfo, query and fragment'],
    [
      'e2e/secrets/canaries.test.ts',
      'a value of a reference is nowhere in what a command shows or writes',
    ],
  ],
  'Errors of libraries': [
    ['faults/post.test.ts', '422: reports places and types, and nothing of what was sent'],
    ['faults/redirect.test.ts', 'a redirect names no foreign host'],
  ],
  'Plans, documents, snapshots': [
    ['e2e/apply/saved-plan.test.ts', 'is applied once and only once'],
    ['unit/host/fingerprints.test.ts', 'is mode 0600, in a folder of mode 0700'],
    ['unit/emulator/durability.test.ts', 'has mode 0600 even if a looser one was there'],
  ],
  'No flag takes a secret': [['e2e/secrets/leaks.test.ts', 'M19: no flag takes a secret']],
  'Redirects are never followed': [
    ['faults/redirect.test.ts', 'M1: an observation never follows'],
    ['faults/redirect.test.ts', 'M1, M2: a write never follows'],
  ],
  'A key goes to the origin': [
    ['e2e/secrets/key-of-one-origin.test.ts', 'sends no key of another environment as %s'],
    ['unit/desired/key-uses.test.ts', 'a key of one server that would be sent to another is found'],
    ['e2e/secrets/hostile-branch.test.ts', 'moves the url: no request reaches the foreign host'],
  ],
  '`SETPOINT_ALLOWED_VARIABLES` can bind': [
    ['e2e/secrets/bound-variables.test.ts', 'and to no other as %s, on this machine either'],
  ],
  '`server.headers` cannot set Host': [['golden/diagnostics.test.ts', "'header-names'"]],
  '`SETPOINT_ALLOWED_ORIGINS` and': [
    ['e2e/secrets/hostile-branch.test.ts', 'reads other variables, into fields that are shown'],
    ['e2e/command/no-file.test.ts', 'with CI set, the lists of where keys may travel are needed'],
    ['e2e/secrets/secret-commands.test.ts', 'a file of variables names no commands'],
  ],
  '`http:` off loopback': [
    ['faults/tls.test.ts', 'M20: NODE_TLS_REJECT_UNAUTHORIZED switches nothing off'],
    [
      'e2e/command/targets.test.ts',
      'http: off loopback is allowed only if it is listed with its scheme',
    ],
  ],
  'The credentials that a pipeline': [
    [
      'unit/desired/pipeline-variables.test.ts',
      '%s cannot be read in any place, in any case of letters',
    ],
    [
      'unit/host/reference-source.test.ts',
      'does not read what the platform gives a container for itself',
    ],
  ],
  'The texts of a SettingsTarget': [
    ['unit/kubernetes/references.test.ts', 'is refused at each text of a SettingsTarget'],
    ['e2e/cluster/references.test.ts', 'so that no reference in any of them is asked for'],
  ],
  'A value of a Secret is requested': [
    ['e2e/cluster/tenants.test.ts', 'gets no Secret of another one, however it names it'],
  ],
  'In a cluster, loopback': [['e2e/cluster/policy.test.ts', 'is needed for loopback too']],
  'An Agent Server shows its secrets': [
    ['e2e/servers/agent-server.test.ts', 'server.compare_secrets'],
  ],
  'setpoint sends one only if': [
    ['e2e/servers/agent-server.test.ts', 'is of no use to what saves: get asks for no secret'],
  ],
  'The values are wrapped when': [
    [
      'e2e/secrets/compare-secrets.test.ts',
      'no document of any command holds a secret that the server has shown',
    ],
  ],
  'The server writes a line': [],
  'A plan against a snapshot': [
    [
      'action/drift.test.ts',
      'saves the snapshot that a plan is made against, with no key and no request',
    ],
    ['e2e/secrets/hostile-branch.test.ts', 'reads other variables, into fields that are shown'],
  ],
  'What a branch writes is inert': [
    ['e2e/secrets/hostile-branch.test.ts', 'shows them as text in every format'],
    ['property/render/markdown.test.ts', 'a document of hostile strings'],
    ['property/render/annotations.test.ts', 'a document of hostile strings'],
  ],
  'A saved plan approves': [
    [
      'e2e/apply/saved-plan.test.ts',
      'a forged plan can only refuse, or approve what the committed file declares',
    ],
  ],
  'No write follows a link': [
    ['e2e/secrets/planted-files.test.ts', 'no write follows a link out of the working folder'],
  ],
  'git is queried': [['e2e/pull/git-branch.test.ts', 'a hostile repository']],
  '`init` and `pull` write arguments': [
    [
      'unit/pull/masked-lines.test.ts',
      'masks arguments and variables, urls with a query, and secrets written out',
    ],
  ],
  'Plan, drift and validate cannot': [
    ['e2e/servers/stores.test.ts', 'sends nothing but GET for plan and drift'],
  ],
  'A write carries back': [
    [
      'e2e/servers/app-server.test.ts',
      'sends only what differs, and all else that is stored stays',
    ],
    [
      'e2e/apply/guards.test.ts',
      'guards are judged again on the observation right before the write',
    ],
  ],
  'Files: UTF-8': [
    ['unit/desired/traps.test.ts', '64 levels are read, 65 are not'],
    ['golden/diagnostics.test.ts', "'two-documents'"],
  ],
  'Stores, fingerprints and': [
    [
      'e2e/secrets/planted-files.test.ts',
      'files that setpoint keeps are read as settings files are',
    ],
  ],
  'Answers: bounded': [
    ['faults/hostile-body.test.ts', 'M14: cuts a gzip bomb of 200 MB'],
    ['faults/hostile-body.test.ts', 'cuts headers of 1 MB'],
    ['faults/lists.test.ts', 'a list holds 50,000 items at most'],
    ['faults/lists.test.ts', 'all pages of a list together hold 64 MiB at most'],
    ['property/growth.test.ts', 'more than 2,000 entries in one mcp list are bad-response'],
    ['unit/service/codec.test.ts', 'M13: refuses five million levels without recursion'],
  ],
  'Whatever is matched': [
    ['unit/model/glob.test.ts', 'a glob that hurts a pattern takes time linear to the text'],
    ['property/growth.test.ts', 'a settings file built to hurt is read in time linear to its size'],
  ],
  'What is shown on a terminal': [['unit/render/visible.test.ts', 'what is invisible is escaped']],
};

/** Sentences that tell what a server does, which no test of setpoint can hold. */
const OF_OTHERS = ['The server writes a line'];

describe('every sentence of SECURITY.md that claims something', () => {
  const text = readFileSync('SECURITY.md', 'utf8');
  const [, defends = ''] = text.split('## What setpoint defends\n');
  const [claims = ''] = defends.split('\n## ');
  const sentences = claims
    .split(/\n- /)
    .slice(1)
    .flatMap((item) =>
      item
        .replaceAll(/\s+/g, ' ')
        .replace(/^\*\*[^*]*\*\* /, '')
        .trim()
        .split(/(?<=\.) /),
    );

  it('has its tests, and each row of the table its sentence', () => {
    const without = sentences.filter(
      (sentence) => !Object.keys(CLAIMS).some((words) => sentence.startsWith(words)),
    );
    expect(without).toEqual([]);
    const idle = Object.keys(CLAIMS).filter(
      (words) => !sentences.some((sentence) => sentence.startsWith(words)),
    );
    expect(idle).toEqual([]);
    expect(sentences.length).toBeGreaterThan(25);
  });

  it.each(Object.entries(CLAIMS))('%s', (words, tests) => {
    if (!OF_OTHERS.includes(words)) expect(tests).not.toEqual([]);
    for (const [file, title] of tests)
      expect(readFileSync(join('test', file), 'utf8'), file).toContain(title);
  });
});
