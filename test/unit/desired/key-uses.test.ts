import { describe, expect, it } from 'vitest';
import {
  KeyUses,
  createOriginResolver,
  createSharedKeyFinding,
  describeSharedKey,
} from '../../../src/reconciler/desired/key-uses.ts';
import { REFERRING } from '../../../src/reconciler/desired/blocks.ts';
import { createDiagnostic } from '../../../src/reconciler/desired/place-diagnostic.ts';
import { read, source } from './reading.ts';

/** The messages of what two environments share, with the values of some variables, or offline. */
function shared(text: string, variables: Readonly<Record<string, string>> | null = {}): string[] {
  expect(read(text).diagnostics).toEqual([]);
  return sharedIn(text, variables).map(describeSharedKey);
}

function sharedIn(text: string, variables: Readonly<Record<string, string>> | null) {
  const { targets } = read(text);
  const uses = new KeyUses({
    fileOf: (path) => path.replace('link', 'key'),
    originOf: createOriginResolver(variables === null ? null : source(variables)),
  });
  for (const target of targets) uses.add(target);
  return uses.listShared(targets);
}

interface Pair {
  readonly production: string;
  readonly staging: string;
  readonly above?: string;
  readonly settings?: string;
}

const two = ({ production, staging, above = '', settings = '' }: Pair) =>
  `version: 1
${above}
environments:
  production:
    server: { ${production} }
  staging:
    server: { ${staging} }
${settings}`;

const PRODUCTION = 'url: "https://a.example", api_key: "${env:KEY}"';

const AUTOMATION = ', automation_url: "https://b.example"';
const HOOK = '    webhooks: { billing: { secret: "${env:KEY}" } }';
const SECRET = '    secrets: { TOKEN: "${env:KEY}" }';

describe('a key of one server that would be sent to another is found', () => {
  it.each([
    ['as its key', 'url: "https://b.example", api_key: "${env:KEY}"'],
    ['in a header', 'url: "https://b.example", headers: { X-A: "${env:KEY}" }'],
    ['behind the host of the url', 'url: "https://b.example/x-${env:KEY}/y"'],
    ['in the host of the url', 'url: "https://b-${env:KEY}.example"'],
    ['at another port', 'url: "https://a.example:8443", api_key: "${env:KEY}"'],
    ['by another scheme', 'url: "http://a.example", api_key: "${env:KEY}"'],
    ['to an address from a variable', 'url: "${env:ELSEWHERE}/x", api_key: "${env:KEY}"'],
    ['to an address from a variable that is not set', 'url: "${env:NONE}", api_key: "${env:KEY}"'],
  ])('%s', (_, staging) => {
    const found = shared(two({ production: PRODUCTION, staging }), {
      KEY: 'k',
      ELSEWHERE: 'https://c.example',
    });
    expect(found).toEqual([
      expect.stringMatching(/^KEY (would be sent as the key|is the key) of /),
    ]);
    expect(found[0]).toMatch(
      /production \(settings\.yaml:5:\d+\).*staging \(settings\.yaml:7:\d+\)/,
    );
  });

  it.each(REFERRING.filter((name) => name !== 'server'))('anywhere in %s', (name) => {
    const staging = 'url: "https://b.example", api_key: "${env:OTHER}"';
    const settings = `    ${name}: { some: [{ deep: "x \${env:KEY} y" }] }`;
    const text = two({ production: PRODUCTION, staging, settings });
    expect(sharedIn(text, {}).map(describeSharedKey)).toEqual([
      expect.stringMatching(/^KEY is the key of production .* by staging \(/),
    ]);
  });

  it('in settings above the environments, but for one that replaces them', () => {
    const above = 'settings: { llm_api_key: "${env:KEY}" }';
    const staging = 'url: "https://b.example", api_key: "${env:OTHER}"';
    expect(shared(two({ production: PRODUCTION, staging, above }))).toHaveLength(1);
    const settings = '    settings: { llm_api_key: "${env:OWN}" }';
    expect(shared(two({ production: PRODUCTION, staging, above, settings }))).toEqual([]);
  });

  it('whichever of the two stands first', () => {
    const [key, settings] = [PRODUCTION, 'url: "https://b.example", api_key: null'];
    const block = '    settings: { llm_api_key: "${env:KEY}" }';
    const turned = `version: 1\nenvironments:\n  staging:\n    server: { ${settings} }\n${block}\n  production:\n    server: { ${key} }\n`;
    expect(shared(turned)).toHaveLength(1);
  });

  it.each([
    ['as the key of two of them', '${env:KEY}', ', automation_url: "https://c.example"', ''],
    ['behind the host of its url', null, ', automation_url: "https://c.example/${env:KEY}"', ''],
    ['in a block that goes there', null, ', automation_url: "https://c.example"', HOOK],
    ['in one that does not go there', '${env:AT_AUTOMATION}', AUTOMATION, SECRET],
  ])('at an automation service, %s', (_, key, more, settings) => {
    const production = `${PRODUCTION}, automation_url: "https://b.example"`;
    const own = key === null ? 'null' : `"${key}"`;
    const staging = `url: "https://${key === '${env:KEY}' ? 'a' : 'd'}.example", api_key: ${own}${more}`;
    const text = two({ production, staging, settings });
    expect(shared(text)).toHaveLength(1);
  });

  it('as a file by another path, and as a secret', () => {
    const files = (one: string, other: string) =>
      two({
        production: `url: "https://a.example", api_key: "${one}"`,
        staging: `url: "https://b.example", api_key: "${other}"`,
      });
    expect(shared(files('${file:/run/key}', '${file:/run/link}'))).toHaveLength(1);
    expect(shared(files('${secret:pass/key}', '${secret:pass/key}'))).toHaveLength(1);
    expect(shared(files('${secret:pass/key}', '${secret:pass/other}'))).toEqual([]);
  });
});

describe('nothing is found', () => {
  it.each([
    ['of one origin in another case', 'https://A.Example'],
    ['of one origin with its port', 'https://a.example:443'],
    ['of one origin with a dot at its end', 'https://a.example.'],
    ['of one origin with a path', 'https://a.example/team'],
    ['of one origin from a variable', '${env:SAME}'],
  ])('%s', (_, url) => {
    const staging = `url: "${url}", api_key: "\${env:KEY}"`;
    const text = two({ production: PRODUCTION, staging });
    expect(shared(text, { SAME: 'https://a.example', KEY: 'k' })).toEqual([]);
  });

  it('of one host from the same variable, known or not', () => {
    const text = two({
      production: 'url: "${env:GATEWAY}/a", api_key: "${env:KEY}"',
      staging: 'url: "${env:GATEWAY}/b", api_key: "${env:KEY}"',
    });
    expect(shared(text)).toEqual([]);
    expect(shared(text, { GATEWAY: 'https://g.example' })).toEqual([]);
    expect(shared(text, null)).toEqual([]);
  });

  it('of a variable that is no key: in two hosts, or in the settings of both', () => {
    const text = two({
      above: 'settings: { llm_api_key: "${env:LLM_KEY}" }',
      production: 'url: "https://a.${env:DOMAIN}", api_key: "${env:KEY}"',
      staging: 'url: "https://b.${env:DOMAIN}", api_key: "${env:OTHER}"',
    });
    expect(shared(text, { DOMAIN: 'example.com' })).toEqual([]);
  });

  it('of an automation service with an origin of its own, to which the key is sent too', () => {
    const production = `${PRODUCTION}${AUTOMATION}`;
    for (const staging of [
      PRODUCTION,
      production,
      'url: "https://b.example", api_key: "${env:KEY}"',
    ])
      expect(shared(two({ production, staging }))).toEqual([]);
    const value = two({ production, staging: PRODUCTION, settings: SECRET });
    expect(shared(value)).toEqual([]);
    expect(shared(two({ production, staging: production, settings: HOOK }))).toEqual([]);
  });

  it('of a file of certificates', () => {
    const text = two({
      production: 'url: "https://a.example", ca_file: "${env:CA}", api_key: "${env:KEY}"',
      staging: 'url: "https://b.example", ca_file: "${env:CA}", api_key: "${env:OTHER}"',
    });
    expect(shared(text)).toEqual([]);
  });
});

it('offline, only origins that are written out are compared, and the problem has its place', () => {
  const staging = 'url: "https://b.example", api_key: "${env:KEY}"';
  const [found] = sharedIn(two({ production: PRODUCTION, staging }), null);
  expect(found).toBeDefined();
  if (found === undefined) return;
  expect(createDiagnostic(createSharedKeyFinding(found))).toMatchObject({
    code: 'key-shared',
    line: 7,
    path: ['environments', 'staging', 'server', 'api_key'],
    message: expect.stringContaining('production (settings.yaml:5:') as unknown,
  });
  const unknown = 'url: "${env:STAGING_URL}", api_key: "${env:KEY}"';
  expect(shared(two({ production: PRODUCTION, staging: unknown }), null)).toEqual([]);
});
