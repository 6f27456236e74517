import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readJobAccess } from '../../../src/command/github/job.ts';
import { gitHub } from '../../../src/command/github/client.ts';
import { exchangeWith } from '../../../src/command/github/client.ts';
import { gitHubError } from '../../../src/command/github/github-error.ts';
import { SetpointError } from '../../../src/reconciler/model/error.ts';
import {
  failing,
  JOB_TOKEN,
  REPOSITORY,
  startGitHub,
  type FakeGitHub,
} from '../../fixture/fake-github.ts';
import { quickClock } from '../../fixture/settings.ts';

let github: FakeGitHub;
const others: Server[] = [];

beforeEach(async () => {
  github = await startGitHub();
});
afterEach(async () => {
  await github.close();
  for (const server of others.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

function client(url = github.url, token = JOB_TOKEN, clock = quickClock()) {
  return gitHub(
    readJobAccess({ GITHUB_API_URL: url, GITHUB_REPOSITORY: REPOSITORY }, token),
    clock,
  );
}

async function listen(handle: RequestListener): Promise<string> {
  const server = createServer(handle);
  others.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function errorOf(work: Promise<unknown>): Promise<SetpointError> {
  const thrown: unknown = await work.catch((error: unknown) => error);
  if (thrown instanceof SetpointError) return thrown;
  throw new Error('No SetpointError was thrown.');
}

describe('where the token goes', () => {
  it.each([
    ['http://api.github.example', 'over the network in the clear'],
    ['https://user@api.github.example', 'with a name in the address'],
    ['ftp://api.github.example', 'with another protocol'],
    ['nonsense', 'to no address'],
  ])('not to %s, %s', (url) => {
    expect(() =>
      readJobAccess({ GITHUB_API_URL: url, GITHUB_REPOSITORY: REPOSITORY }, 't'),
    ).toThrow(SetpointError);
  });

  it.each(['', 'a', 'a/b/c', 'a/../b', 'a b/c'])('the repository %j is none', (repository) => {
    expect(() => readJobAccess({ GITHUB_REPOSITORY: repository }, 't')).toThrow(
      /GITHUB_REPOSITORY/,
    );
  });

  it('a token that could break a header is refused, and not shown', () => {
    const token = 'ghs_canary\r\nx-evil: 1';
    expect(() => readJobAccess({ GITHUB_REPOSITORY: REPOSITORY }, token)).toThrow(
      'There is no token for GitHub.',
    );
  });

  it.each([301, 302, 303, 307, 308])(
    'not after a redirect (%i), neither on nor with the body',
    async (status) => {
      let reached = 0;
      const elsewhere = await listen((_, response) => {
        reached += 1;
        response.end('[]');
      });
      github.intercept = (_, response) => {
        response.writeHead(status, { location: `${elsewhere}/` }).end();
        return true;
      };
      for (const work of [client().comments(1), client().createComment(1, 'text')])
        expect((await errorOf(work)).code).toBe('not-this-service');
      expect(reached).toBe(0);
    },
  );

  it('not to another host for the next page', async () => {
    let reached = 0;
    const elsewhere = await listen((_, response) => {
      reached += 1;
      response.end('[]');
    });
    github.intercept = (_, response) => {
      const headers = {
        'content-type': 'application/json',
        link: `<${elsewhere}/next>; rel="next"`,
      };
      response.writeHead(200, headers).end('[]');
      return true;
    };
    expect((await errorOf(client().comments(1))).code).toBe('bad-response');
    expect(reached).toBe(0);
  });
});

describe('what failed is sent once more, on the clock that is handed in', () => {
  it('a list twice, 1 and 4 s later, and a comment never', async () => {
    const clock = quickClock();
    github.intercept = failing(503);
    const errors = [
      await errorOf(client(github.url, JOB_TOKEN, clock).comments(1)),
      await errorOf(client(github.url, JOB_TOKEN, clock).createComment(1, 'text')),
    ];
    expect(errors.map(({ code }) => code)).toEqual(['server-error', 'server-error']);
    expect(clock.slept).toEqual([1000, 4000]);
    expect(github.requests.map(({ method }) => method)).toEqual(['GET', 'GET', 'GET', 'POST']);
  });
});

describe('nothing that GitHub sends goes into a message', () => {
  it.each([
    [400, 'bad-response'],
    [401, 'unauthorized'],
    [403, 'unauthorized'],
    [404, 'usage'],
    [409, 'bad-response'],
    [410, 'bad-response'],
    [422, 'bad-response'],
    [429, 'rate-limited'],
    [503, 'server-error'],
  ])('%i is %s', async (status, code) => {
    github.intercept = (_, response) => {
      const headers = { 'content-type': 'application/json', 'retry-after': '4000' };
      response.writeHead(status, status === 429 ? headers : { 'content-type': 'application/json' });
      response.end(JSON.stringify({ message: 'canary', errors: [{ message: 'canary' }] }));
      return true;
    };
    const error = await errorOf(client().createComment(1, 'text'));
    expect(error.code).toBe(code);
    expect(error.message).toContain(`POST /repos/${REPOSITORY}/issues/1/comments (${status})`);
    expect(error.message + error.hint).not.toContain('canary');
  });

  it('nothing listens', async () => {
    await github.close();
    const error = await errorOf(client().createComment(1, 'text'));
    expect([error.code, error.message]).toEqual(['unreachable', 'GitHub could not be reached.']);
    github = await startGitHub();
  });

  it('it never answers', async () => {
    const silent = await listen(() => {});
    const error = await errorOf(
      exchangeWith(
        silent,
        50,
      )(`${silent}/`).catch((thrown: unknown) => {
        throw gitHubError(Object.assign(new Error('x', { cause: thrown }), { status: 500 }));
      }),
    );
    expect(error.code).toBe('timed-out');
  });

  it.each(['<html>sign in</html>', '[{"id":1', '', '{"message":"hello"}'])(
    '%j is no list',
    async (body) => {
      github.intercept = (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' }).end(body);
        return true;
      };
      expect((await errorOf(client().comments(1))).code).toBe('bad-response');
    },
  );

  it('an error of GraphQL', async () => {
    github.intercept = (_, response) => {
      const body = { errors: [{ message: 'canary' }] };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      return true;
    };
    const error = await errorOf(client().viewer());
    expect(error.code).toBe('bad-response');
    expect(error.message + error.hint).not.toContain('canary');
  });
});

it('a comment that somebody else has deleted is deleted', async () => {
  await client().deleteComment(4711);
  expect(github.writes()).toEqual(['DELETE /issues/comments/4711']);
  github.intercept = failing(500);
  expect((await errorOf(client().deleteComment(4711))).code).toBe('server-error');
});

it('an issue of somebody else cannot be edited, one of ours can', async () => {
  github.open({});
  expect((await errorOf(client().updateIssue(1, 'x'))).code).toBe('unauthorized');
});
