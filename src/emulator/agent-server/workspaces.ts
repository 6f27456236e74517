import type { Routes } from '../call.ts';
import { type Answer, createJsonAnswer, detail } from '../http/answer.ts';
import {
  isJsonList,
  isJsonObject,
  type Json,
  readOwnMember,
  readTextMember,
  type JsonObject,
} from '../json.ts';
import { fitScalar } from '../native/fit-scalar.ts';
import { checkObject, listRule, nullable, type Rule } from '../rules.ts';
import { findThing, readableThings, type ServerContent, withoutThing, withThing } from './held.ts';
import type { AgentServerKind } from './record.ts';
import { createHeldRoute, type HeldRequest, refuseAgentBody } from './requests.ts';

/** Folders that are offered for conversations, and the folders that those are looked for in. */
interface WorkspaceKind {
  readonly collection: 'workspaces' | 'workspace_parents';
  /** The member of a request that has the list. */
  readonly sent: string;
  readonly title: string;
  readonly takes: Rule;
}

const TEXTS = { id: 4096, name: 256, path: 4096 };

const WORKSPACES: WorkspaceKind = {
  collection: 'workspaces',
  sent: 'workspaces',
  title: 'Workspace',
  takes: listing('workspaces', [
    ...required(),
    { name: 'parentPath', rule: nullable(limitedText(4096, 0)), absent: null },
  ]),
};

const PARENTS: WorkspaceKind = {
  collection: 'workspace_parents',
  sent: 'parents',
  title: 'Workspace parent',
  takes: listing('parents', required()),
};

/** /api/workspaces. Source: contract "workspaces: add, list, the same path again, remove". */
export function createWorkspaceRoutes(kind: AgentServerKind): Routes {
  const path = '/api/workspaces';
  const changing = (of: WorkspaceKind) => ({ POST: adding(of), DELETE: removing(of) });
  return [
    createHeldRoute(kind, path, {
      GET: { does: createListAnswer },
      ...changing(WORKSPACES),
    }),
    createHeldRoute(kind, `${path}/parents`, changing(PARENTS)),
  ];
}

function createListAnswer(held: ServerContent): Answer {
  const list = (of: WorkspaceKind): Json =>
    readableThings(held, of.collection).map(([, one]) => withoutNulls(one));
  return createJsonAnswer(200, {
    workspaces: list(WORKSPACES),
    workspaceParents: list(PARENTS),
  });
}

function withoutNulls(thing: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(thing).filter(([, value]) => value !== null));
}

/** Adds those whose path is not there. One that is there stays, whatever is sent of it. */
function adding({ collection, sent, takes }: WorkspaceKind): HeldRequest {
  return {
    takes,
    does: (before, { body }) => {
      const list = isJsonObject(body) ? (readOwnMember(body, sent) ?? null) : null;
      const held = (isJsonList(list) ? list : []).reduce<ServerContent>((so, one) => {
        const path = readTextMember(one, 'path');
        return findThing(so, collection, path) === undefined
          ? withThing(so, collection, path, one)
          : so;
      }, before);
      return { held, answer: createListAnswer(held) };
    },
  };
}

function removing({ collection, title }: WorkspaceKind): HeldRequest {
  return {
    does: (held, { query }) => {
      const path = query.get('path');
      if (path === null)
        return refuseAgentBody([
          { type: 'missing', loc: ['query', 'path'], msg: 'Field required', input: null },
        ]);
      if (findThing(held, collection, path) === undefined) return detail(404, `${title} not found`);
      return {
        held: withoutThing(held, collection, path),
        answer: createJsonAnswer(200, { deleted: true }),
      };
    },
  };
}

function required(): { readonly name: string; readonly rule: Rule }[] {
  return Object.entries(TEXTS).map(([name, most]) => ({ name, rule: limitedText(most, 1) }));
}

function limitedText(maxLength: number, minLength: number): Rule {
  return (value, at) =>
    fitScalar({ type: 'string', minLength, maxLength }, { isNamed: false }, value, at);
}

/** The server takes the name of its own code for this member, too. */
function byAlias(one: Json): Json {
  if (!isJsonObject(one) || readOwnMember(one, 'parent_path') === undefined) return one;
  return { parentPath: readOwnMember(one, 'parent_path') ?? null, ...one };
}

/** The rule for a body with one list of things of these members. */
function listing(sent: string, members: Parameters<typeof checkObject>[0]): Rule {
  const list = listRule((one, at) => checkObject(members, 'ignored', byAlias(one), at));
  return (body, at) => checkObject([{ name: sent, rule: list }], 'ignored', body, at);
}
