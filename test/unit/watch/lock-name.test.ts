import { describe, expect, it } from 'vitest';
import {
  describeHolder,
  fileName,
  newHolder,
  createLeaseName,
} from '../../../src/controller/watch/locks/presence.ts';

const NAMES = [
  ['prod', 'Prod', 'PROD', 'prod ', 'prod.', 'a/b', 'a\\b', 'a%2fb', 'a-b', 'a_b', 'a.b'],
  ['ä', 'a\u0308', 'Ä', '', '.', '..', 'con', 'lock-a', 'digest-a', '\n', '\0', '🚀'],
  ['x'.repeat(120), 'x'.repeat(121), 'x'.repeat(122), 'ä'.repeat(200), '-', '--', '%'],
].flat();

describe.each([
  ['a file', fileName, /^(lock-[a-z\d_%-]*|digest-[\da-f]{64})$/],
  ['an object of Kubernetes', createLeaseName, /^[a-z\d]([a-z\d-]{0,251}[a-z\d])?$/],
])('the name of %s', (_, nameOf, form) => {
  it('is another one for each lock, also when capitals do not count', () => {
    const names = NAMES.map((name) => nameOf(name).toLowerCase());
    expect(new Set(names).size).toBe(NAMES.length);
  });

  it.each(NAMES)('is one that every system takes: %j', (name) => {
    expect(nameOf(name)).toMatch(form);
    expect(nameOf(name).length).toBeLessThanOrEqual(255);
  });
});

it('says which process a holder is, and that of another form is not known', () => {
  const uuid = '0f8fad5b-d9cb-469f-a165-70867728950e';
  expect(describeHolder(newHolder('host_1.example', 7, uuid))).toBe('process 7 on host_1.example');
  expect(describeHolder('\u001b[31mred')).toBe('a controller that is not known');
});
