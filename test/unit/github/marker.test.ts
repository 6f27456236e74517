import { expect, it } from 'vitest';
import { change, environment, planOf } from '../../fixture/documents.ts';
import { commentsOf } from '../../../src/command/github/comments-of.ts';
import {
  digestIn,
  contentDigest,
  isMarked,
  marked,
  markerOf,
} from '../../../src/command/github/marker.ts';
import { pullRequestIn } from '../../../src/command/github/job.ts';

it('a post keeps its digest, whatever its line ends, and a valid commit', () => {
  const marker = markerOf('plan', 'a');
  const body = marked(marker, { digest: 'abc123', commit: 'f'.repeat(40) }, 'text');
  for (const text of [body, body.replaceAll('\n', '\r\n')]) {
    expect(isMarked(text, marker)).toBe(true);
    expect(digestIn(text)).toBe('abc123');
  }
  expect(body).toContain('"commit":"ffff');
  expect(marked(marker, { digest: 'abc123', commit: '-->' }, 'text')).toContain('"commit":null');
  expect(digestIn(`${marker}\ntext`)).toBe(null);
  expect(digestIn('')).toBe(null);
});

it('the digest is that of the content, not of the order in which it is written', () => {
  expect(contentDigest({ a: 1, b: { c: [1, 2], d: null } })).toBe(
    contentDigest({ b: { d: null, c: [1, 2] }, a: 1 }),
  );
  expect(contentDigest([1, 2])).not.toBe(contentDigest([2, 1]));
});

const SHA = 'a'.repeat(40);

it.each([
  ['', null],
  ['{', null],
  ['null', null],
  ['{"pull_request":null}', null],
  ['{"pull_request":{"number":"7"}}', null],
  ['{"pull_request":{"number":7}}', { number: 7, headSha: null, fork: false }],
  [
    `{"pull_request":{"number":7,"head":{"sha":"${SHA}","repo":{"full_name":"a/b"}},"base":{"repo":{"full_name":"a/b"}}}}`,
    { number: 7, headSha: SHA, fork: false },
  ],
  // The repository of the branch is gone.
  [
    '{"pull_request":{"number":7,"head":{"sha":"x; rm","repo":null},"base":{"repo":{"full_name":"a/b"}}}}',
    { number: 7, headSha: null, fork: true },
  ],
])('the pull request in %s', (event, expected) => {
  expect(pullRequestIn(event)).toEqual(expected);
});

it('a plan made again has the same comment, though its digests have another salt', () => {
  const made = (salt: string) => ({
    ...planOf(
      environment({
        digests: { address: `hmac-sha256:${salt}`, changes: [`hmac-sha256:${salt}`] },
        changes: [change()],
      }),
    ),
    salt,
  });
  const [one] = commentsOf(made('aa'), null);
  const [other] = commentsOf(made('bb'), null);
  expect(one?.digest).toBe(other?.digest);
  const [changed] = commentsOf(planOf(environment({ changes: [change({ after: 'it' })] })), null);
  expect(changed?.digest).not.toBe(one?.digest);
});
