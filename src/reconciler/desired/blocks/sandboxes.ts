import { listBlockItems, type DeclaredItem, type DesiredState } from '../../model/state.ts';
import {
  member,
  readNodeText,
  type MapNode,
  type Member,
  type Node,
  type PlacedFinding,
  locate,
} from '../node.ts';
import { isMisspelt } from '../schema-lookup.ts';
import { type Block, type FilePath, isNumberOrWord, isPlainWord } from './block.ts';

export const sandboxes: Block<'sandboxes'> = {
  name: 'sandboxes',
  pulled: false,
  check: checkSandboxItems,
  only: {
    dialects: ['settings-v0', 'app-server'],
    otherwise:
      'It has no sandboxes: settings-v0 and app-server have them. Declare sandboxes only in environments with such a service.',
  },
  items: (node) => (node.kind === 'list' ? node.items.map(createDesiredSandboxes) : []),
  isQuotable: (value) => isNumberOrWord(value) || isPlainWord(value.replaceAll(':', '-')),
};

/** An item that counts: at least, or with `surplus: 'pause'` exactly, `running` are up. Without `spec` it counts what no other item claims. */
export interface CountedSandboxes extends DeclaredItem {
  readonly kind: 'counted';
  readonly spec: string | null;
  readonly running: number;
  readonly surplus: 'keep' | 'pause';
  readonly whenBusy: 'skip' | 'pause';
}

/** An item about one sandbox. */
export interface NamedSandbox extends DeclaredItem {
  readonly kind: 'named';
  readonly id: string;
  readonly state: 'running' | 'paused';
  readonly whenBusy: 'skip' | 'pause';
}

export type DesiredSandboxes = CountedSandboxes | NamedSandbox;

/** The declared sandboxes. If there are none, the service's sandboxes are neither read nor changed. */
export function listDeclaredSandboxes(
  desired: Pick<DesiredState, 'items'>,
): readonly DesiredSandboxes[] {
  return listBlockItems(desired, sandboxes.name) as readonly DesiredSandboxes[];
}

function createDesiredSandboxes(node: Node): DesiredSandboxes {
  const source = locate(node.file, node.at);
  const whenBusy = readNodeText(member(node, 'when_busy')) === 'pause' ? 'pause' : 'skip';
  const id = readNodeText(member(node, 'id'));
  if (id !== undefined) {
    const state = readNodeText(member(node, 'state')) === 'paused' ? 'paused' : 'running';
    return { kind: 'named', id, state, whenBusy, source };
  }
  const running = member(node, 'running');
  return {
    kind: 'counted',
    spec: readNodeText(member(node, 'spec')) ?? null,
    running: running?.kind === 'scalar' ? Number(running.value) : 0,
    surplus: readNodeText(member(node, 'surplus')) === 'pause' ? 'pause' : 'keep',
    whenBusy,
    source,
  };
}

/** Which keys go together, and what two items claim. */
function checkSandboxItems(holder: MapNode, path: FilePath): PlacedFinding[] {
  const list = member(holder, 'sandboxes');
  if (list?.kind !== 'list') return [];
  const items = list.items.flatMap((node, index) =>
    node.kind === 'map' ? [{ node, path: [...path, 'sandboxes', String(index)] }] : [],
  );
  return [...items.flatMap(keyFindings), ...findRepeatedClaims(items)];
}

interface Item {
  readonly node: MapNode;
  readonly path: FilePath;
}

const OF_A_NUMBER = ['spec', 'running', 'surplus'];

function keyFindings({ node, path }: Item): PlacedFinding[] {
  const byId = node.members.has('id');
  const foreign = (byId ? OF_A_NUMBER : ['state']).flatMap((key) => node.members.get(key) ?? []);
  const needed = byId ? 'state' : 'running';
  return [
    ...foreign.map((found) => createKeyFinding(found, path)),
    ...(node.members.has(needed) || isMisspelt(node, path, needed) || (foreign.length > 0 && !byId)
      ? []
      : [findMissingMember(node, path)]),
  ];
}

function createKeyFinding({ key, keyFile, keyAt }: Member, path: FilePath): PlacedFinding {
  const [message, hint] =
    key === 'state'
      ? [
          'state is for one sandbox, and this item names none.',
          'Name the sandbox by its id, or write running: and a number.',
        ]
      : [
          `${key} is for a number of sandboxes, and this item names one by its id.`,
          'Keep id and state here. Move the number to a separate item.',
        ];
  const finding = { code: 'unknown-key', message, hint, path: [...path, key] } as const;
  return { file: keyFile, at: keyAt, finding };
}

function findMissingMember(node: MapNode, path: FilePath): PlacedFinding {
  const finding = node.members.has('id')
    ? {
        message: 'state is missing here.',
        hint: 'Add state: running, or state: paused.',
      }
    : {
        message: 'This item names neither a number nor a sandbox.',
        hint: 'Add running: and a number, or id and state of one sandbox.',
      };
  return { file: node.file, at: node.at, finding: { code: 'missing-key', ...finding, path } };
}

/** Finds sandboxes with the same id, the same spec, or a second item without either: an error at each of them. */
function findRepeatedClaims(items: readonly Item[]): PlacedFinding[] {
  const claims = items.map(({ node, path }) => findClaim(node, path));
  const times = new Map<string, number>();
  for (const claim of claims)
    if (claim !== null) times.set(claim.what, (times.get(claim.what) ?? 0) + 1);
  return claims.flatMap((claim) => {
    if (claim === null || times.get(claim.what) === 1) return [];
    return [{ file: claim.at.file, at: claim.at.at, finding: claim.finding }];
  });
}

function findClaim(
  node: MapNode,
  path: FilePath,
): { what: string; at: Node; finding: PlacedFinding['finding'] } | null {
  for (const key of ['id', 'spec']) {
    const claimed = member(node, key);
    if (claimed === undefined) continue;
    const text = readNodeText(claimed);
    if (text === undefined || text === '') return null;
    const noun = key === 'id' ? 'sandbox' : 'spec';
    return {
      what: `${key} ${text}`,
      at: claimed,
      finding: {
        code: 'declared-twice',
        message: `Two items claim this ${noun}.`,
        hint: 'Keep one of them.',
        path: [...path, key],
      },
    };
  }
  if (!node.members.has('running')) return null;
  return {
    what: 'rest',
    at: node,
    finding: {
      code: 'declared-twice',
      message:
        'Two items have no spec, so both would count the sandboxes that no other item claims.',
      hint: 'Keep one of them, or give one a spec.',
      path,
    },
  };
}
