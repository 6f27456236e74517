import { describe, expect, it } from 'vitest';
import {
  isForbiddenVariable,
  PIPELINE_VARIABLES,
  readableName,
} from '../../../src/reconciler/desired/pipeline-variables.ts';
import { read, SERVER } from './reading.ts';

/** A name for each glob of the table. */
const LISTED = Object.values(PIPELINE_VARIABLES)
  .flat()
  .map((glob) => glob.replaceAll('*', 'X'));

/** Names from the documentation of pipelines, written here a second time so that the table cannot lose one. */
const KNOWN = [
  'ACTIONS_RUNTIME_TOKEN',
  'ACTIONS_ID_TOKEN_REQUEST_TOKEN',
  'GITHUB_TOKEN',
  'GH_TOKEN',
  'NODE_AUTH_TOKEN',
  'INPUT_X',
  'RUNNER_TEMP',
  'GITEA_TOKEN',
  'FORGEJO_TOKEN',
  'CI_JOB_TOKEN',
  'CI_JOB_JWT_V2',
  'CI_REGISTRY_PASSWORD',
  'CI_DEPENDENCY_PROXY_PASSWORD',
  'CI_REPOSITORY_URL',
  'CI_DEPLOY_PASSWORD',
  'SYSTEM_ACCESSTOKEN',
  'CIRCLE_OIDC_TOKEN',
  'CIRCLE_OIDC_TOKEN_V2',
  'BITBUCKET_STEP_OIDC_TOKEN',
  'BUILDKITE_AGENT_ACCESS_TOKEN',
  'BUILDKITE_AGENT_JOB_API_TOKEN',
  'CI_NETRC_USERNAME',
  'DRONE_NETRC_PASSWORD',
  'VERCEL_OIDC_TOKEN',
  'SEMAPHORE_OIDC_TOKEN',
  'TFC_WORKLOAD_IDENTITY_TOKEN_ANY',
  'SETPOINT_WATCH_TOKEN',
  'SETPOINT_STATE_KEY',
  'SETPOINT_SECRET_COMMANDS',
];

const ALL = [...new Set([...LISTED, ...KNOWN])];

/** Every place of a settings file that may name a variable, each in its own way. */
const PLACES: Readonly<Record<string, (reference: string) => string>> = {
  'the key of a server': (text) => `server: { url: "https://a.example", api_key: "${text}" }`,
  'a header': (text) => `server: { url: "https://a.example", headers: { X-A: "${text}" } }`,
  'a part of the url': (text) => `server: { url: "https://a.example/${text}" }`,
  'a file of certificates': (text) => `server: { url: "https://a.example", ca_file: "${text}" }`,
  'a setting': (text) => `${SERVER}\nsettings: { language: "${text}" }`,
  'the key of a model': (text) => `${SERVER}\nsettings: { llm_api_key: "${text}" }`,
  'a custom secret': (text) => `${SERVER}\nsecrets: { one: "${text}" }`,
  'a git provider': (text) => `${SERVER}\ngit_providers: { github: { token: "${text}" } }`,
  'a header of an mcp server': (text) =>
    `${SERVER}\nsettings: { mcp_config: { shttp_servers: [{ url: "https://m.example/${text}" }] } }`,
};

const problems = (text: string) => read(`version: 1\n${text}\n`).diagnostics;

const codes = (text: string) => problems(text).map(({ code }) => code);

describe('a variable that a pipeline puts into the environment by itself', () => {
  it.each(ALL)('%s cannot be read in any place, in any case of letters', (name) => {
    for (const spelled of [name, name.toLowerCase()])
      for (const [place, write] of Object.entries(PLACES))
        expect(codes(write(`\${env:${spelled}}`)), `${place}: ${spelled}`).toContain(
          'bad-reference',
        );
  });

  it.each(ALL)('%s is not suggested by a message', (name) => {
    expect(isForbiddenVariable(readableName(name))).toBe(false);
    const [refused] = problems(`${SERVER}\nsecrets: { ${name}: plain-text }`);
    const [foreign] = problems(`${SERVER}\nsecrets: { one: "$${name}" }`);
    for (const { hint } of [refused, foreign].flatMap((one) => one ?? []))
      for (const [, suggested = ''] of hint.matchAll(/\$\{env:(\w+)\}/g))
        expect(isForbiddenVariable(suggested), hint).toBe(false);
  });
});

it.each(['GITHUB_TOKENS', 'MY_GITHUB_TOKEN', 'GITHUB_SHA', 'CI_JOB', 'ACTION_KEY', 'GITLAB_TOKEN'])(
  '%s may be read',
  (name) => {
    expect(isForbiddenVariable(name)).toBe(false);
    expect(readableName(name)).toBe(name);
  },
);
