import { describe, expect, it } from 'vitest';
import { isHarmlessValue, openPart } from '../../../src/reconciler/pull/program-text.ts';
import { isSecretText } from '../../../src/reconciler/model/secret-words.ts';
import {
  createVariableMarker,
  markerReference,
  variableName,
  listTextVariables,
  replaceMarkers,
} from '../../../src/reconciler/pull/placeholder.ts';

describe('what a file may hold of an argument', () => {
  it.each([
    ['-y', null, null],
    ['@example/server-files', null, null],
    ['@example/server-files@1.2.3', '-y', null],
    ['/data dir', null, ''],
    ['/data/dir', null, null],
    ['--root=/data', null, null],
    ['--url=https://x.example.com/a', null, null],
    ['https://x.example.com/a', '--endpoint', null],
    ['--token', null, null],
    ['-v', '--token', null],
    ['ghcr.io/example/server@sha256:0123', null, ''],
    [`ghcr.io/example/server:1.2@sha256:${'0a'.repeat(32)}`, null, null],
    ['server-that-has-a-long-name-2', null, null],
    ['hunter2', '--password', ''],
    ['hunter2', '-token', ''],
    ['--api-key=hunter2', null, '--api-key='],
    ['API_KEY=hunter2', '-e', 'API_KEY='],
    ['Authorization: Bearer x', '-H', 'Authorization: '],
    ['X-Custom: Bearer abc', '-H', 'X-Custom: '],
    ['postgres://u:p@db/x', null, ''],
    ['--db=postgres://u:p@db/x', null, '--db='],
    ['https://x.example.com/a?key=1', null, ''],
    ['sk-abcdef', null, ''],
    ['ghp_0123456789', null, ''],
    ['0123456789abcdef0123456789abcdef', null, ''],
    ['**********', null, ''],
  ])('%j after %j', (argument, before, open) => {
    expect(openPart(argument, before)).toBe(open);
  });

  it.each([
    ['hunter2', null],
    ['Passw0rd!', null],
    ['correct horse battery', null],
    ['dXNlcjpwYXNz', null],
    ['abcdefghijklmnop', null],
    ['123456789', null],
    ['letmein', '-p'],
    ['letmein', '-k'],
    ['8080', '-u'],
    ['-phunter', null],
    ['--hunter2', null],
    ['https://x.example.com/s/AbC123dEf456', null],
    ['/hooks/T00000000/XXXX', null],
    ['user:pass', null],
    ['SOMETHING', null],
    ['a b', '-c'],
    ['\u0000', null],
    ['ab'.repeat(200), null],
  ])('closed by default: nothing of %j after %j', (argument, before) => {
    expect(openPart(argument, before)).toBe('');
  });

  it.each([
    ['--flag=hunter2', '--flag='],
    ['--password=abc', '--password='],
    ['NAME=hunter2', 'NAME='],
    ['--level=debug', null],
    ['--port=8080', null],
    ['--hunter2=x', ''],
  ])('the name of %j: %j', (argument, open) => {
    expect(openPart(argument, null)).toBe(open);
  });

  it.each([
    ['LOG_LEVEL', 'debug', true],
    ['LOG_LEVEL', 'INFO', true],
    ['PORT', '8080', true],
    ['ENABLED', 'true', true],
    ['ROOT', '/var/lib/data', true],
    ['BASE', 'https://api.example.com/v', true],
    ['EMPTY', '', true],
    ['GITHUB_TOKEN', 'debug', false],
    ['DB_PASS', 'debug', false],
    ['ANY', 'hunter2', false],
    ['ANY', 'correct-horse-battery', false],
    ['ANY', 'Tr0ub4dor', false],
    ['ANY', '1234567', false],
    ['ANY', 'https://x.example.com/a?k=v', false],
    ['ANY', 'redis://cache', false],
  ])('the variable %s with the value %j: %s', (name, value, harmless) => {
    expect(isHarmlessValue(name, value)).toBe(harmless);
  });

  it('a text with the form of a secret', () => {
    for (const text of ['eyJhbGciOi', 'xoxb-1-2', '<hidden>', 'Basic dTpw', 'AKIA0000'])
      expect(isSecretText(text), text).toBe(true);
    for (const text of ['info', 'en_GB.UTF-8', '8080', 'true', '/usr/bin:/bin', 'a b c', ''])
      expect(isSecretText(text), text).toBe(false);
  });
});

describe('a variable', () => {
  it.each([
    [['mcp.example.com', 'api_key'], 'MCP_EXAMPLE_COM_API_KEY'],
    [['b.example.com:8080/x', 'url'], 'B_EXAMPLE_COM_8080_X_URL'],
    [['runner.example.com', 'api_key'], 'SETPOINT_RUNNER_EXAMPLE_COM_API_KEY'],
    [['127.0.0.1', 'api_key'], 'SETPOINT_127_0_0_1_API_KEY'],
    [['Ünï', 'api_key'], 'N_API_KEY'],
    [['actions', 'API_KEY'], 'SETPOINT_ACTIONS_API_KEY'],
  ])('of %j is called %s', (parts, name) => {
    expect(variableName(...parts)).toBe(name);
  });

  it('has a marker until it has a name, and what the service has is not read as one', () => {
    const marker = createVariableMarker('a', 'b');
    const value = {
      url: `x-${markerReference(marker)}`,
      other: [`$${markerReference(marker)}`, '${env:A}'],
    };
    expect(replaceMarkers(value, () => 'NAME')).toEqual({
      url: 'x-${env:NAME}',
      other: [`$${markerReference(marker)}`, '${env:A}'],
    });
  });

  it('that a text reads is found in every form', () => {
    expect([...listTextVariables('${env:A} ${env:B:-x} ${env:C')]).toEqual(['A', 'B', 'C']);
  });
});
