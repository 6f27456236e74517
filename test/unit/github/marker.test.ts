import { expect, it } from 'vitest';
import { change, environment, planOf } from '../../fixture/documents.ts';
import { createStickyComments } from '../../../src/command/github/comments-of.ts';
import {
  findDigest,
  contentDigest,
  isMarked,
  joinMarkedPost,
  createMarker,
} from '../../../src/command/github/marker.ts';
import { parseEventPullRequest } from '../../../src/command/github/job.ts';

it('a post keeps its digest, whatever its line ends, and a valid commit', () => {
  const marker = createMarker('plan', 'a');
  const body = joinMarkedPost(marker, { digest: 'abc123', commit: 'f'.repeat(40) }, 'text');
  for (const text of [body, body.replaceAll('\n', '\r\n')]) {
    expect(isMarked(text, marker)).toBe(true);
    expect(findDigest(text)).toBe('abc123');
  }
  expect(body).toContain('"commit":"ffff');
  expect(joinMarkedPost(marker, { digest: 'abc123', commit: '-->' }, 'text')).toContain(
    '"commit":null',
  );
  expect(findDigest(`${marker}\ntext`)).toBe(null);
  expect(findDigest('')).toBe(null);
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
  expect(parseEventPullRequest(event)).toEqual(expected);
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
  const [one] = createStickyComments(made('aa'), null);
  const [other] = createStickyComments(made('bb'), null);
  expect(one?.digest).toBe(other?.digest);
  const [changed] = createStickyComments(
    planOf(environment({ changes: [change({ after: 'it' })] })),
    null,
  );
  expect(changed?.digest).not.toBe(one?.digest);
});
