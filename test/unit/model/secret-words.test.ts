import { describe, expect, it } from 'vitest';
import {
  isSensitiveName,
  looksLikeToken,
  maskProgramArgument,
  maskProgramVariable,
  sourceHoldsSecret,
} from '../../../src/reconciler/model/secret-words.ts';

describe('a name marks its value as a secret', () => {
  it.each([
    'api_key',
    'apiKey',
    'APIKEY',
    'AWS_ACCESS_KEY_ID',
    'Authorization',
    'x-cookie',
    'smtp_pwd',
    'smtpPwd',
    'DB_PASS',
    'PGPASS',
    'mysqlpass',
    'passphrase',
    'password2',
    'auth',
    'BASIC_AUTH',
    'npm_config__auth',
    'bearer',
    'credentials',
    'creds',
    'private',
    'deploy_private',
    'private_key',
    'signature',
    'sig',
    'SENTRY_DSN',
    'jwt',
    'authorized_keys',
    'keyboard_api_key',
    'author_token',
    'sandbox_api_key_set',
    '--api-key=',
  ])('%s', (name) => expect(isSensitiveName(name)).toBe(true));

  it.each([
    'author',
    'git_author_name',
    'GIT_AUTHOR_EMAIL',
    'authority',
    'passive',
    'passive_mode',
    'bypass_rules',
    'compass',
    'passthrough',
    'keyboard_layout',
    'keywords',
    'keybindings',
    'monkey_patch',
    'max_tokens',
    'max_output_tokens',
    'TOKENIZERS_PARALLELISM',
    'auth_mode',
    'AUTH_URL',
    'oauth_enabled',
    'use_auth',
    'signal',
    'design',
    'private_network',
    'LEVEL',
    'language',
    'path',
  ])('and %s does not', (name) => expect(isSensitiveName(name)).toBe(false));
});

it.each([
  'sk-a',
  'ghp_a',
  'github_pat_a',
  'glpat-a',
  'xoxb-a',
  'AKIA0',
  'eyJhbGci',
  'x -----BEGIN RSA',
])('%s has the form of a token', (text) => expect(looksLikeToken(text)).toBe(true));

describe('a literal of the file is shown, unless its flag, name or form is that of a secret', () => {
  it.each([
    ['-y', null, '-y'],
    ['hunter2', '--password', '(sensitive)'],
    ['--api-key=hunter2', null, '--api-key=(sensitive)'],
    ['--root=/data', null, '--root=/data'],
    ['0123456789abcdef0123456789abcdef', null, '0123456789abcdef0123456789abcdef'],
    ['sk-abcdef', null, '(sensitive)'],
    ['postgres://u:p@db/x', null, '(sensitive)'],
    ['sh', '-c', 'sh'],
  ])('the argument %j after %j', (argument, before, shown) =>
    expect(maskProgramArgument(argument, before)).toBe(shown),
  );

  it.each([
    ['LEVEL', 'info', 'info'],
    ['TOKEN', 'x', '(sensitive)'],
    ['TOKEN', '', ''],
    ['URL', 'https://h/x?k=1', '(sensitive)'],
  ])('the variable %s with %j', (name, text, shown) =>
    expect(maskProgramVariable(name, text)).toBe(shown),
  );
});

describe('where code comes from', () => {
  it.each([
    '/home/user1/projects/setpoint-Ab12Cd/skills',
    'github:example/skills-2',
    '0123456789abcdef0123456789abcdef01234567',
  ])('is plain: %s', (text) => {
    expect(sourceHoldsSecret(text)).toBe(false);
  });

  it.each([
    'https://user:a-token@git.example.com/skills',
    'git:ghp_0123456789abcdefghijABCDEFGHIJ0123',
    '/x/q9Zr7TbW2kLm4Xc8Vn5Yp1Qa/y',
  ])('may hold a secret: %s', (text) => {
    expect(sourceHoldsSecret(text)).toBe(true);
  });
});
