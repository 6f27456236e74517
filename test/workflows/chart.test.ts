import { Ajv } from 'ajv';
import { parse, parseAllDocuments } from 'yaml';
import { describe, expect, it } from 'vitest';
import { readText } from './read-text.ts';
import { PACKAGE } from './workflow-file.ts';

const CHART = 'examples/kubernetes/chart/setpoint';

type Values = Readonly<Record<string, unknown>>;
const schema = JSON.parse(readText(`${CHART}/values.schema.json`)) as Values;
const defaults = parse(readText(`${CHART}/values.yaml`)) as Values;
const accepts = new Ajv({
  allErrors: true,
  strict: true,
  strictTypes: false,
  strictRequired: false,
}).compile(schema);

/** Maps over maps, as Helm does it: what is null goes. */
function merged(under: Values, over: Values): Values {
  const values: Record<string, unknown> = { ...under };
  for (const [key, value] of Object.entries(over)) {
    const before = values[key];
    values[key] = isMap(before) && isMap(value) ? merged(before, value) : value;
    if (value === null) Reflect.deleteProperty(values, key);
  }
  return values;
}

function isMap(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const CASES = ['default', 'cluster', 'page', 'least'] as const;
const GIVEN = parse(readText(`${CHART}/ci/default-values.yaml`)) as Values;

describe('the chart', () => {
  it('has the version of the command, and the definition and the rules of now', () => {
    const { version, appVersion } = parse(readText(`${CHART}/Chart.yaml`)) as Values;
    expect([version, appVersion]).toEqual([PACKAGE.version, PACKAGE.version]);
    expect(readText(`${CHART}/files/crd.yaml`)).toBe(readText('examples/kubernetes/crd.yml'));
    expect(parse(readText(`${CHART}/files/rules.yaml`))).toEqual(
      parse(readText('examples/prometheus/rules.yml')),
    );
  });

  it('wants an image and the origins, and has a default for the rest', () => {
    accepts(defaults);
    expect(accepts.errors?.map(({ instancePath }) => instancePath).toSorted()).toEqual([
      '/allowedOrigins',
      '/image/repository',
    ]);
    const { properties } = schema as { readonly properties: Values };
    const known = Object.keys(properties).filter((name) => name !== 'global');
    expect(Object.keys(defaults).toSorted()).toEqual(known.toSorted());
  });

  it.each(CASES)('takes ci/%s-values.yaml', (name) => {
    const values = parse(readText(`${CHART}/ci/${name}-values.yaml`)) as Values;
    accepts(merged(defaults, values));
    expect(accepts.errors ?? []).toEqual([]);
  });

  it.each<[string, Values]>([
    ['no origin', { allowedOrigins: [] }],
    ['two origins in one', { allowedOrigins: ['https://a.example.com,https://b.example.com'] }],
    ['a value that is misspelt', { replica: 2 }],
    ['one deeper down', { rbac: { aggregate: { veiw: true } } }],
    ['a digest that is none', { image: { digest: 'latest' } }],
    ['a page without its certificate', { page: { enabled: true, tokenSecret: 'page' } }],
    ['a page without its token', { page: { enabled: true, tlsSecret: 'tls' } }],
    [
      'a monitor without metrics',
      { serviceMonitor: { enabled: true }, probes: { metrics: false } },
    ],
    ['an argument that is no flag', { controller: { extraArgs: ['watch'] } }],
    ['a form of the log that is none', { controller: { output: 'yaml' } }],
    ['a volume without a name', { volumes: [{ emptyDir: {} }] }],
    ['a namespace beside the whole cluster', { scope: 'cluster', watchNamespace: 'agents' }],
    ['names of Secrets in every namespace', { scope: 'cluster', rbac: { secretNames: ['a'] } }],
    ['root', { runAsUser: 0 }],
    ['origins by the back door', { env: [{ name: 'SETPOINT_ALLOWED_ORIGINS', value: '*' }] }],
  ])('refuses %s', (_, values) => {
    expect(accepts(merged(defaults, GIVEN))).toBe(true);
    expect(accepts(merged(merged(defaults, GIVEN), values))).toBe(false);
  });

  it.each([
    '*',
    '**',
    'https://*',
    'http*',
    'https:*',
    '*://*',
    'https://*:*',
    'https://*.*',
    'https://*:443',
    'https://*e*',
    'https://*.com',
    'https://agents.*',
    '*agents.example.com',
  ])(
    'refuses the origin %s, which any host may fit, unless it is said that it is meant',
    (origin) => {
      const values = merged(merged(defaults, GIVEN), { allowedOrigins: [origin] });
      expect(accepts(values)).toBe(false);
      expect(accepts({ ...values, allowAnyOrigin: true })).toBe(true);
    },
  );

  it.each([
    'https://agents.example.com',
    'https://*.agents.example.com',
    'https://agents-*.example.com:8443',
    'http://agents.team-a.svc:3000',
    'http://agents',
    'http://10.0.0.1:3000',
    'http://[fd00::1]:3000',
    'https://agents.example.com:*',
  ])('takes the origin %s', (origin) => {
    accepts(merged(merged(defaults, GIVEN), { allowedOrigins: [origin] }));
    expect(accepts.errors ?? []).toEqual([]);
  });

  it('is given values that it takes by the examples for Flux and Argo CD', () => {
    const [release] = parseAllDocuments(readText('examples/kubernetes/chart/flux.yml')).map(
      (one) => one.toJS() as { readonly spec: { readonly values: Values } },
    );
    const application = parse(readText('examples/kubernetes/chart/argo.yml')) as {
      readonly spec: { readonly source: { readonly helm: { readonly valuesObject: Values } } };
    };
    for (const values of [release?.spec.values, application.spec.source.helm.valuesObject]) {
      accepts(merged(defaults, values ?? {}));
      expect(accepts.errors ?? []).toEqual([]);
    }
  });
});
