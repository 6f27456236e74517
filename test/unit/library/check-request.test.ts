import { describe, expect, it } from 'vitest';
import {
  checkControllerRequest,
  checkRequest,
  OPTION_RULES,
  type FunctionName,
} from '../../../src/reconciler/library/check-request.ts';

const NAMES = Object.keys(OPTION_RULES) as FunctionName[];
const REQUIRED = { env: {}, path: 'llm_model' };
/** One value of each kind: no option takes all of them. */
const VALUES: readonly unknown[] = [
  'private text',
  ['private text'],
  {},
  null,
  true,
  -1,
  0.5,
  Number.NaN,
  1e12,
  7n,
  Symbol('private'),
  () => {},
];

function requestOf(name: FunctionName, more: object): object {
  const required = Object.entries(REQUIRED).filter(([option]) => option in OPTION_RULES[name]);
  return { ...Object.fromEntries(required), ...more };
}

describe.each(NAMES)('%s()', (name) => {
  it.each(Object.keys(OPTION_RULES[name]))('refuses wrong values of %s by its name', (option) => {
    const rule = OPTION_RULES[name][option];
    const wrong = VALUES.filter((value) => rule?.accepts(value) === false);
    expect(wrong.length).toBeGreaterThan(3);
    for (const value of wrong) {
      const check = () => checkRequest(name, requestOf(name, { [option]: value }));
      expect(check).toThrow(
        expect.objectContaining({
          code: 'usage',
          message: `${name}(): ${option} must be ${rule?.words}.`,
        }),
      );
    }
  });

  it('takes undefined as an option that is left out, unless it must be there', () => {
    for (const option of Object.keys(OPTION_RULES[name])) {
      const check = () => checkRequest(name, requestOf(name, { [option]: undefined }));
      if (option in REQUIRED) expect(check).toThrow(`${name}() needs the option ${option}.`);
      else expect(check).not.toThrow();
    }
  });

  it('suggests the option that a misspelt name is meant for', () => {
    const check = () => checkRequest(name, requestOf(name, { timeuot: 1 }));
    expect(check).toThrow(
      expect.objectContaining({
        message: `${name}() has no option "timeuot".`,
        hint: 'Did you mean timeout?',
      }),
    );
  });

  it.each(['checkout', 'several', 'targetsFrom', '__proto__', 'constructor'])(
    'has no option %s',
    (option) => {
      const request = Object.defineProperty(requestOf(name, {}), option, {
        value: {},
        enumerable: true,
      });
      expect(() => checkRequest(name, request)).toThrow(/has no option/);
    },
  );
});

it.each([undefined, null, 'settings.yaml', 1, []])('takes no %j instead of options', (request) => {
  expect(() => checkRequest('plan', request)).toThrow('plan() takes one object of options.');
});

it.each([
  [{ text: '', file: 'settings.yaml' }, 'text and file exclude each other'],
  [{ snapshot: 'x.json', check: true }, 'snapshot and check exclude each other'],
  [{ snapshot: 'x.json', server: 'https://x' }, 'snapshot and server exclude each other'],
  [{ maxAge: 1 }, 'maxAge is the greatest age of a snapshot'],
  [{ base: 'old.yaml', file: ['a.yaml', 'b.yaml'] }, 'base needs one settings file'],
])('refuses options that do not go together: %j', (options, message) => {
  expect(() => checkRequest('plan', { env: {}, ...options })).toThrow(message);
});

it('checks the request of a controller and what it watches', () => {
  const request = { file: 'settings.yaml', env: {} };
  expect(() => checkControllerRequest({ request, data: 'data' })).not.toThrow();
  expect(() => checkControllerRequest({ request })).toThrow('needs the option data');
  expect(() => checkControllerRequest({ request, data: 'd', interval: '5m' })).toThrow(
    'openController(): interval must be a number of milliseconds, above 0.',
  );
  expect(() =>
    checkControllerRequest({ request: { ...request, text: 'version: 1' }, data: 'd' }),
  ).toThrow('openController(): request has no option "text".');
});
