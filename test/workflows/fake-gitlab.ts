import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Note {
  readonly id: number;
  readonly author: { readonly id: number };
  body: string;
}

export interface GitLab {
  /** What a pipeline has as CI_API_V4_URL. */
  readonly url: string;
  readonly notes: Note[];
  /** The artifact snapshot.json of the job `snapshot`, null if there is none. */
  snapshot: string | null;
  close(): Promise<void>;
}

const ME = 7;

/** GitLab's API as far as a merge request's job asks: one snapshot, who I am, and the notes of merge request 3 of project 42. */
export async function startGitLab(token: string): Promise<GitLab> {
  const gitlab = { url: '', notes: [] as Note[], snapshot: null as string | null };
  const server = createServer((request, response) => {
    void answer(request, response);
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://gitlab');
    const form = new URLSearchParams(await textOf(request));
    const send = (status: number, body: unknown) =>
      response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
    if (request.headers.authorization !== `Bearer ${token}`) return void send(401, {});
    const notes = '/api/v4/projects/42/merge_requests/3/notes';
    const note = gitlab.notes.find(({ id }) => pathname === `${notes}/${id}`);
    switch (`${request.method} ${note === undefined ? pathname : notes}`) {
      case 'GET /api/v4/projects/42/jobs/artifacts/main/raw/snapshot.json':
        if (gitlab.snapshot === null || searchParams.get('job') !== 'snapshot')
          return void send(404, {});
        return void send(200, gitlab.snapshot);
      case 'GET /api/v4/user':
        return void send(200, { id: ME });
      case `GET ${notes}`:
        return void send(200, gitlab.notes.slice(0, Number(searchParams.get('per_page') ?? 20)));
      case `POST ${notes}`:
        gitlab.notes.push({
          id: 100 + gitlab.notes.length,
          author: { id: ME },
          body: form.get('body') ?? '',
        });
        return void send(201, {});
      case `PUT ${notes}`:
        if (note?.author.id !== ME) return void send(403, {});
        note.body = form.get('body') ?? '';
        return void send(200, {});
      default:
        return void send(404, {});
    }
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  gitlab.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v4`;
  return Object.assign(gitlab, {
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
