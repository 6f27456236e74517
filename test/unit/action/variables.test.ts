import { expect, it } from 'vitest';
import { createStepVariables } from '../../../src/command/action/variables.ts';

const SECRETS = JSON.stringify({
  LLM_API_KEY: 'a',
  SEARCH_API_KEY: 'b',
  NODE_OPTIONS: 'c',
  SETPOINT_ALLOWED_ORIGINS: 'd',
  EMPTY: 'e',
});

it('are those of the step without its inputs, and of the secrets those that are listed', () => {
  const env = {
    SETPOINT_ALLOWED_VARIABLES: 'LLM_*, EMPTY, SETPOINT_*',
    EMPTY: '',
    SETPOINT_ALLOWED_FILES: '',
    INPUT_SECRETS: SECRETS,
    'INPUT_GITHUB-TOKEN': 't',
    GITHUB_SHA: 'merge',
  };
  expect(createStepVariables(env, SECRETS, 'head')).toEqual({
    SETPOINT_ALLOWED_VARIABLES: 'LLM_*, EMPTY, SETPOINT_*',
    SETPOINT_ALLOWED_FILES: '',
    LLM_API_KEY: 'a',
    EMPTY: 'e',
    GITHUB_SHA: 'head',
  });
});

it('are those of the step alone if no secrets are passed', () => {
  expect(createStepVariables({ A: '1', GITHUB_SHA: 'x' }, null, null)).toEqual({
    A: '1',
    GITHUB_SHA: 'x',
  });
});

it.each(['', 'null', '[]', '"text"', '{"A":1}', '{"A":null}', '{"A":"canary'])(
  'secrets as %j are refused, and not shown',
  (text) => {
    const work = (): unknown =>
      createStepVariables({ SETPOINT_ALLOWED_VARIABLES: '*' }, text, null);
    expect(work).toThrow('The input secrets is not a JSON object of strings.');
  },
);
