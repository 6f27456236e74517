import { describe, expect, it } from 'vitest';
import { Redactor } from '../../../src/reconciler/model/redactor.ts';
import { encodings } from '../../fixture/encodings.ts';
import { growth, LINEAR } from '../../fixture/growth.ts';

const SECRET = 'p@ss"w\\ö/1+2\nline2&<x>';

function redactorOf(...values: readonly string[]): Redactor {
  const redactor = new Redactor();
  for (const value of values) redactor.add(value, null);
  return redactor;
}

describe('M23: a value of a reference inside other text is masked in each of seventeen forms', () => {
  it.each(encodings(SECRET).map((form, index) => ({ number: index + 1, form })))(
    'form $number',
    ({ form }) => {
      for (const shown of [form, `before ${form} behind`, `x${form}y`, `${form}${form}`]) {
        const text = redactorOf(SECRET).text(shown);
        for (const line of form.split('\n').filter((part) => part.trim().length > 5))
          expect(text).not.toContain(line.trim());
        expect(text).toContain('(sensitive)');
      }
    },
  );

  it('and in the base64 of a longer text, wherever it begins', () => {
    for (const user of ['u', 'us', 'use', 'user']) {
      const text = Buffer.from(`${user}:correct horse battery:x`).toString('base64');
      const shown = redactorOf('correct horse battery').text(`Basic ${text}`);
      expect(shown).toContain('(sensitive)');
      const left = shown.replace('(sensitive)', '');
      expect(Buffer.from(left, 'base64').toString()).not.toContain('horse');
    }
  });

  it.each(['p@ss!word', '==token==', '$a.b*c', '[secret]', '\\d+secret', 'ß-Straße-ΟΔΟΣ'])(
    '%s, whatever it begins and ends with, in any case',
    (secret) => {
      for (const form of [secret, secret.toUpperCase(), secret.toLowerCase()]) {
        expect(redactorOf(secret).text(`a${form}b`)).toBe('a(sensitive)b');
      }
    },
  );

  it('T8: a line of a value of several lines, and a text of a JSON value', () => {
    const pem = '-----BEGIN KEY-----\r\nMIIEvQIBADANBg\r\nkqhkiG9w0BAQEF\r\n-----END KEY-----';
    const account = JSON.stringify({ type: 'service', private_key: `${pem}\n`, id: 'robot-7' });
    for (const value of [pem, account]) {
      const shown = redactorOf(value).text('one kqhkiG9w0BAQEF two MIIEvQIBADANBg');
      expect(shown).toBe('one (sensitive) two (sensitive)');
    }
    expect(redactorOf(account).text('as robot-7')).toBe('as (sensitive)');
  });

  it('of an address: itself without its query, its password, the values of its query, ids in its path', () => {
    const redactor = redactorOf(
      'https://user:pa%3Ass-w0rd@h.example/t/acme-77001/sse?k=abc%2Fdef1',
    );
    for (const part of [
      'https://h.example/t/acme-77001/sse',
      'pa%3Ass-w0rd',
      'pa:ss-w0rd',
      'acme-77001',
      'abc/def1',
    ])
      expect(redactor.text(`in ${part}.`)).toBe('in (sensitive).');
    expect(redactor.text('at h.example')).toBe('at h.example');
  });
});

describe('T7: a short value is masked only as the whole of a text', () => {
  it.each(['1', 'en', 'true', 'x', '5char'])('%s', (value) => {
    const redactor = redactorOf(value);
    expect(redactor.text(value)).toBe('(sensitive)');
    expect(redactor.text(value.toUpperCase())).toBe('(sensitive)');
    expect(redactor.text(`a${value}b ${value}`)).toBe(`a${value}b ${value}`);
  });

  it('a number that is one is masked too, and no other', () => {
    const redactor = redactorOf('50', '4.50');
    expect([50, 4.5, 51].map((number) => redactor.number(number))).toEqual([
      '(sensitive)',
      '(sensitive)',
      51,
    ]);
  });

  it('a value that the mask itself holds does no harm', () => {
    for (const value of ['sensitive', '(sensitive)', 'i', 'SENSI'])
      expect(redactorOf(value).text('it is (sensitive) here')).toBe('it is (sensitive) here');
  });
});

describe('T25: the time grows with the text alone', () => {
  const secrets = Array.from(
    { length: 480 },
    (_, index) => `sk-ant-secret-number-${index}-of-many`,
  );

  it.each([
    ['words', 'lorem ipsum dolor sit amet '],
    ['beginnings of secrets', 'sk-ant-secret-number-'],
    ['one letter', 'aaaaaaaaaaaaaaaaaaaaaaaa'],
    ['what has the form of addresses', 'a:b@c?d=e#f//'],
    ['open references', '${env:A'],
  ])('1 MiB of %s, 480 values', (_, piece) => {
    const redactor = redactorOf(...secrets, `${'a'.repeat(500)}b`);
    const ratio = growth(
      (size) => piece.repeat(Math.ceil(size / piece.length)),
      (text) => redactor.text(text),
      262_144,
    );
    expect(ratio).toBeLessThan(LINEAR);
  });
});
