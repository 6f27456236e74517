import type { Routes } from '../call.ts';
import { type Answer, detail, createJsonAnswer } from '../http/answer.ts';
import { sentenceFor } from '../http/body.ts';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  readOwnMember,
  readJson,
  readTextMember,
} from '../json.ts';
import { checkProfileName } from '../native/profile-record.ts';
import { checkObject, type Rule, textRule } from '../rules.ts';
import {
  type CollectionName,
  type ServerContent,
  readableThings,
  findThing,
  withoutThing,
  withThing,
} from './held.ts';
import {
  type ContentRequest,
  createHeldRoute,
  type HeldRequest,
  type ContentResult,
  stripJsonSuffix,
} from './requests.ts';
import type { AgentServerKind } from './record.ts';

const NAME = '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$';
export const MOST = 50;

/** Checks the name of a thing. */
export const nameRule: Rule = (value, at) =>
  typeof value === 'string' ? checkProfileName(value, NAME, at) : textRule(value, at);

/** A collection whose things a client names: listed, read, saved whole and removed by their names. */
export interface NamedCollection {
  readonly collection: CollectionName;
  readonly path: string;
  /** The name of one in answers, at the beginning of a sentence and in the middle. */
  readonly title: string;
  readonly noun: string;
  /** The rule for the body of one, and the answer to one at which the server's own code fails. */
  readonly takes: Rule;
  readonly crashes?: (body: Json) => Answer;
  /** The list, in the order of the names. Source: contract "profiles: the list, its order and members". */
  readonly listed: (named: readonly [string, JsonObject][], held: ServerContent) => Json;
  /** Writes to the store before a list is answered. */
  readonly beforeList?: (held: ServerContent, asked: ContentRequest) => ServerContent | Answer;
  /** Returns why one is not shown, whether it exists or not. */
  readonly beforeShown?: (asked: ContentRequest) => Answer | undefined;
  readonly shown: (held: ServerContent, thing: JsonObject, asked: ContentRequest) => Answer;
  /** Returns the part of a body that is stored. Default: all of it. */
  readonly kept?: (held: ServerContent, asked: ContentRequest) => LoadResult;
  /** Returns the other changes once one is gone, or why it cannot go. */
  readonly removed?: (
    left: ServerContent,
    name: string,
    asked: ContentRequest,
    thing: JsonObject | undefined,
  ) => ServerContent | Answer;
  /** Returns the other changes once one has another name. Without this there is no rename. */
  readonly renamed?: (held: ServerContent, name: string, newName: string) => ServerContent;
  /** POST {name}/{verb}, in addition to those of every such collection. */
  readonly verbs?: Readonly<Record<string, HeldRequest>>;
}

/** A thing, or the reason why it is missing. */
export type LoadResult = { readonly thing: JsonObject } | { readonly refused: Answer };

export function createNamedRoutes(kind: AgentServerKind, of: NamedCollection): Routes {
  const { collection, path } = of;
  const list = (held: ServerContent): Answer =>
    createJsonAnswer(
      200,
      of.listed(readableThings(held, collection).toSorted(compareByName), held),
    );
  const verbs = {
    ...(of.renamed === undefined ? {} : { rename: createNamedRename(of) }),
    ...of.verbs,
  };
  return [
    createHeldRoute(kind, path, {
      GET: {
        does: (held, asked) => {
          const after = of.beforeList?.(held, asked) ?? held;
          return 'things' in after ? { held: after, answer: list(after) } : after;
        },
      },
    }),
    ...Object.entries(verbs).map(([verb, request]) =>
      createHeldRoute(kind, `${path}/{id}/${verb}`, { POST: request }),
    ),
    createHeldRoute(kind, `${path}/{id}`, createThingRequests(of)),
  ];
}

/** The requests about one thing. */
function createThingRequests(of: NamedCollection): Readonly<Record<string, HeldRequest>> {
  const { collection, title, noun } = of;
  return {
    GET: {
      names: nameRule,
      does: (held, asked) => {
        const refused = of.beforeShown?.(asked);
        if (refused !== undefined) return refused;
        const found = loadThing(of, held, asked.sent);
        return 'refused' in found ? found.refused : of.shown(held, found.thing, asked);
      },
    },
    POST: {
      names: nameRule,
      takes: of.takes,
      ...(of.crashes === undefined ? {} : { crashes: of.crashes }),
      does: (held, asked) => {
        const kept = of.kept?.(held, asked) ?? { thing: asked.body };
        if ('refused' in kept) return kept.refused;
        const things = held.things[collection];
        const isOneMore = readOwnMember(things, asked.name) === undefined;
        if (isOneMore && Object.keys(things).length >= MOST)
          return detail(
            409,
            `${title} limit reached (${MOST}). Delete a ${noun} before saving a new one.`,
          );
        return {
          held: withThing(held, collection, asked.name, kept.thing),
          answer: createJsonAnswer(201, {
            name: asked.sent,
            message: `${title} '${asked.sent}' saved`,
          }),
        };
      },
    },
    DELETE: {
      names: nameRule,
      does: (held, asked) => {
        const left = withoutThing(held, collection, asked.name);
        const thing = findThing(held, collection, asked.name);
        const after = of.removed?.(left, asked.name, asked, thing) ?? left;
        if (!('things' in after)) return after;
        const answer = createJsonAnswer(200, {
          name: asked.sent,
          message: `${title} '${asked.sent}' deleted`,
        });
        return { held: after, answer };
      },
    },
  };
}

/** Each is a file, and files are listed in the order of their names. Source: contract "profiles: names". */
function compareByName([one]: readonly [string, Json], [other]: readonly [string, Json]): number {
  return `${one}.json` < `${other}.json` ? -1 : 1;
}

/** A thing, or why it cannot be read. Source: contract "profiles: an unreadable file". */
export function loadThing(
  { collection, title, noun }: Pick<NamedCollection, 'collection' | 'title' | 'noun'>,
  held: ServerContent,
  sent: string,
): LoadResult {
  const found = readOwnMember(held.things[collection], stripJsonSuffix(sent));
  if (found === undefined) return { refused: detail(404, `${title} '${sent}' not found`) };
  if (isJsonObject(found)) return { thing: found };
  return {
    refused: detail(400, `Failed to load ${noun} \`${sent}\`: ${findPythonJsonFault(found)}`),
  };
}

/** Describes why a text is not JSON, as Python does. */
export function findPythonJsonFault(found: Json): string {
  const text = typeof found === 'string' ? found : '';
  const reading = readJson(text);
  if (reading.kind !== 'malformed') return 'it is no object';
  const { position, reason } = reading;
  const lines = text.slice(0, position).split('\n');
  const column = (lines.at(-1) ?? '').length + 1;
  return `${sentenceFor(reason)}: line ${lines.length} column ${column} (char ${position})`;
}

/** Source: contract "profiles: renamed", "agent profiles: renamed, id and pointer stay". */
function createNamedRename({ collection, title, renamed }: NamedCollection): HeldRequest {
  return {
    names: nameRule,
    takes: (body, at) => checkObject([{ name: 'new_name', rule: nameRule }], 'ignored', body, at),
    does: (held, { sent, name, body }): ContentResult => {
      const newName = readTextMember(body, 'new_name');
      const kept = stripJsonSuffix(newName);
      const things = held.things[collection];
      if (readOwnMember(things, name) === undefined)
        return detail(404, `${title} '${sent}' not found`);
      const isSame = sent === newName;
      const message = isSame
        ? `'${sent}' unchanged (same name)`
        : `'${sent}' renamed to '${newName}'`;
      const answer = createJsonAnswer(200, { name: newName, message: `${title} ${message}` });
      if (kept === name) return answer;
      if (readOwnMember(things, kept) !== undefined)
        return detail(409, `${title} '${newName}' already exists`);
      const moved = Object.entries(things).map(
        ([other, one]) => [other === name ? kept : other, one] as const,
      );
      const after = {
        ...held,
        things: { ...held.things, [collection]: Object.fromEntries(moved) },
      };
      return { held: renamed?.(after, name, kept) ?? after, answer };
    },
  };
}
