import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/reconciler/kubernetes/crd.ts';
import { renderObjects } from '../../../src/reconciler/kubernetes/objects.ts';
import { readTargets } from '../../../src/reconciler/desired/target.ts';
import { OPEN_LOCK } from '../../../src/reconciler/model/native-schema.ts';
import { read, SERVER } from '../desired/reading.ts';

/** The spec of the only environment of a file. */
function specOf(...lines: readonly string[]): unknown {
  const { objects, findings } = rendered(...lines);
  expect(findings).toEqual([]);
  return objects.at(-1)?.['spec'];
}

function rendered(...lines: readonly string[]): ReturnType<typeof renderObjects> {
  const { targets, diagnostics } = read(['version: 1', SERVER, ...lines, ''].join('\n'));
  expect(diagnostics).toEqual([]);
  return renderObjects(targets, { secret: 'agents', all: true });
}

const ref = (path: string, key: string) => ({ path, secretKeyRef: { name: 'agents', key } });

describe('what has several spellings has one in an object', () => {
  it('a line of arguments and one of variables', () => {
    const line = 'args: -y --dir "/a b" "${env:DIR}", env: "A=1,TOKEN=${env:TOKEN}"';
    expect(
      specOf(
        'settings:',
        '  mcp_config:',
        '    stdio_servers:',
        '      - name: files',
        '        command: npx',
        ...line.split(', ').map((member) => `        ${member}`),
      ),
    ).toMatchObject({
      settings: {
        mcp_config: {
          stdio_servers: [
            {
              name: 'files',
              command: 'npx',
              args: ['-y', '--dir', '/a b', '(valuesFrom)'],
              env: { A: '1' },
            },
          ],
        },
      },
      valuesFrom: [
        ref('settings.mcp_config.stdio_servers[files].args[3]', 'DIR'),
        ref('settings.mcp_config.stdio_servers[files].env.TOKEN', 'TOKEN'),
      ],
    });
  });

  it('an address alone, with blanks around it', () => {
    expect(
      specOf('settings: { mcp_config: { sse_servers: [" https://x.example.com/sse "] } }'),
    ).toMatchObject({
      settings: { mcp_config: { sse_servers: [{ url: 'https://x.example.com/sse' }] } },
    });
  });

  it('secrets where the specification has them', () => {
    expect(
      specOf(
        'settings:',
        '  secrets_store:',
        '    custom_secrets: { JIRA: "${env:JIRA}" }',
        '    provider_tokens: { github: { token: "${env:GITHUB}" } }',
      ),
    ).toEqual({
      server: { url: 'https://agents.example.com' },
      mode: 'Observe',
      settings: {},
      valuesFrom: [ref('secrets.JIRA.value', 'JIRA'), ref('git_providers.github.token', 'GITHUB')],
    });
  });
});

it('members of later servers are under native, their secrets and nulls by their own paths', () => {
  const text = `version: 1
${SERVER}
settings:
  agent_settings:
    llm: { model: m, novelty: 5, later_key: "\${env:LATER}", gone: null }
    later: { part: { of: [1, two] } }
`;
  const { targets, diagnostics } = readTargets(
    { path: 'settings.yaml', text, bases: [], lock: OPEN_LOCK },
    { serverGiven: false, several: false },
  );
  expect(diagnostics).toEqual([]);
  const { objects, findings } = renderObjects(targets, { secret: 'agents' });
  expect(findings).toEqual([]);
  expect(objects.at(-1)?.['spec']).toMatchObject({
    settings: { agent_settings: { llm: { model: 'm' } } },
    native: { agent_settings: { llm: { novelty: 5 }, later: { part: { of: [1, 'two'] } } } },
    valuesFrom: [ref('settings.agent_settings.llm.later_key', 'LATER')],
    clear: ['settings.agent_settings.llm.gone'],
  });
});

it('an environment that declares nothing has settings all the same: an object without is refused', () => {
  expect(specOf()).toEqual({
    server: { url: 'https://agents.example.com' },
    mode: 'Observe',
    settings: {},
  });
});

describe('names', () => {
  const named = (names: readonly string[]): ReturnType<typeof renderObjects> => {
    const environments = names.map(
      (name, index) => `  ${name}: { server: { url: https://${index}.example.com } }`,
    );
    const { targets } = read(['version: 1', 'environments:', ...environments, ''].join('\n'));
    return renderObjects(targets, {});
  };

  it.each([
    ['Prod_EU', 'prod-eu'],
    ['a.b-c', 'a.b-c'],
    ['a._b', 'a.b'],
    ['a--', 'a'],
    ['v1.2_', 'v1.2'],
  ])('%s becomes %s', (name, object) => {
    const { objects, findings } = named([name]);
    expect(findings).toEqual([]);
    expect(objects[0]?.['metadata']).toMatchObject({ name: object });
  });

  it('that become one name are refused, unless they are in two namespaces', () => {
    const { findings } = named(['a_b', 'a-b', 'A-B']);
    expect(findings.map(({ finding }) => [finding.code, finding.path])).toEqual([
      ['not-in-kubernetes', ['environments', 'a-b']],
      ['not-in-kubernetes', ['environments', 'A-B']],
    ]);
    const { targets } = read(`version: 1
environments:
  a_b: { server: { url: https://a.example.com } }
  a-b: { server: { url: https://b.example.com }, kubernetes: { namespace: other } }
`);
    expect(renderObjects(targets, {}).findings).toEqual([]);
  });

  it('that are too long are refused', () => {
    const { findings } = named(['x'.repeat(254)]);
    expect(findings.map(({ finding }) => finding.message)).toEqual([
      'No object can have the name of this environment.',
    ]);
  });
});

describe('an entry of kubernetes.references', () => {
  const warned = (...lines: readonly string[]): readonly string[] =>
    rendered(...lines).findings.map(
      ({ finding: { severity, message } }) => `${severity}: ${message}`,
    );

  it('that places nothing is a warning', () => {
    const block = 'kubernetes: { references: { "env:A": { key: a }, "env:B": { key: b } } }';
    expect(warned(block, 'settings: { llm_api_key: "${env:A}" }')).toEqual([
      'warning: No environment has the reference ${env:B}.',
    ]);
    expect(
      warned(block, 'settings: { llm_api_key: "${env:A}", language: "${env:B:-en}" }'),
    ).toEqual([]);
  });

  it('is used by its own environment, and no warning if only some are rendered', () => {
    const { targets } = read(`version: 1
kubernetes: { secret: agents, references: { "env:A": { key: a } } }
environments:
  one: { server: { url: https://a.example.com }, settings: { llm_api_key: "\${env:A}" } }
  two: { server: { url: https://b.example.com } }
`);
    const found = (all: boolean, some: typeof targets) =>
      renderObjects(some, { all }).findings.length;
    expect([found(true, targets), found(true, targets.slice(1))]).toEqual([0, 1]);
    expect(found(false, targets.slice(1))).toBe(0);
  });
});

it('the order of objects is that of the environments, whatever their names', () => {
  const { targets } = read(`version: 1
environments:
  b: { server: { url: https://b.example.com } }
  a: { server: { url: https://a.example.com } }
`);
  const { objects } = renderObjects(targets, { crd: true });
  const nameOf = ({ metadata }: KubeObject) => (metadata as { readonly name: string }).name;
  expect(objects.map(nameOf)).toEqual([
    'settingstargets.setpoint.dev',
    'settingspolicies.setpoint.dev',
    'settingsapprovals.setpoint.dev',
    'b',
    'a',
  ]);
});
