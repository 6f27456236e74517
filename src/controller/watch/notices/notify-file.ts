import { member, readNodeText, type Node } from '../../../reconciler/desired/node.ts';
import { secretsRead } from '../../../reconciler/desired/key-travel.ts';
import { parseFile } from '../../../reconciler/desired/parse.ts';
import { readText } from '../../../reconciler/host/read-text.ts';
import type { Diagnostic } from '../../../reconciler/model/diagnostic.ts';
import { SetpointError } from '../../../reconciler/model/error.ts';
import type { ReferenceSource, SecretPath } from '../../../reconciler/model/ports.ts';
import { parseSelector, type Requirement } from '../../../reconciler/model/selector.ts';
import { NOTICE_KINDS } from '../../../reconciler/model/watch.ts';
import type { WatchStatus } from '../../../reconciler/model/verdict.ts';
import { formatCount } from '../../../reconciler/model/wording.ts';
import { ADDRESSES, parseDestination, isReachedSafely, NotifyNodes } from './notify-destination.ts';
import { FORMS } from './receivers.ts';
import {
  type Heartbeat,
  type NotifySettings,
  type Receiver,
  type ReceiverEvent,
} from './receiver.ts';

/** A file of --notify that is not valid: every problem. */
export class NotifyInvalid extends SetpointError {
  readonly diagnostics: readonly Diagnostic[];

  constructor(path: string, diagnostics: readonly Diagnostic[]) {
    const problems = formatCount(diagnostics.length, 'problem');
    const hint = 'Fix the problems above. setpoint watch does not start without that.';
    super('settings-invalid', `${path} has ${problems}.`, { hint });
    this.diagnostics = diagnostics;
  }
}

const LARGEST = 256 * 1024;

/** Reads a file of --notify, references resolved. Throws NotifyInvalid, or file-unreadable. */
export function readNotify(path: string, source: ReferenceSource): NotifySettings {
  return parseNotify(path, fileText(path), source);
}

/** Lists the secret commands to run before the file is read. */
export function notifySecrets(path: string): readonly SecretPath[] {
  const { root } = parseFile(path, fileText(path));
  return secretsRead([root ?? undefined]);
}

function fileText(path: string): string {
  const read = readText(path, LARGEST);
  if ('text' in read) return read.text;
  throw new SetpointError('file-unreadable', `${path} is too large, or not UTF-8 text.`);
}

export function parseNotify(path: string, text: string, source: ReferenceSource): NotifySettings {
  const { root, diagnostics } = parseFile(path, text);
  const nodes = new NotifyNodes(source);
  const settings = root === null ? null : notifySettings(root, nodes);
  const all = [...diagnostics, ...nodes.diagnostics];
  if (settings === null || all.length > 0) throw new NotifyInvalid(path, all);
  return settings;
}

const EVENTS = [...NOTICE_KINDS.filter((kind) => kind !== 'reminder'), 'controller'] as const;
/** A receiver that hears of none of them would never hear of a problem. */
const PROBLEMS: readonly ReceiverEvent[] = [
  'controller',
  'opened',
  'failing',
  'heal-failed',
  'write-refused',
  'healing-stopped',
];
const STATUSES = [
  'drift',
  'conflict',
  'refused',
  'error',
  'pending',
  'unknown',
] as const satisfies WatchStatus[];
const DEFAULT_STATUSES: readonly WatchStatus[] = ['drift', 'conflict', 'refused', 'error'];

const CHOICES = ['environments', 'selector', 'statuses', 'events', 'reminder'] as const;
const RECEIVER = ['name', ...ADDRESSES, 'headers', 'body', 'token', 'api_url', ...CHOICES];

function notifySettings(root: Node, nodes: NotifyNodes): NotifySettings | null {
  const map = nodes.map(root, ['version', 'page', 'notify', 'heartbeat'], 'This file');
  if (map === null) return null;
  const version = member(map, 'version');
  if (version?.kind !== 'scalar' || version.value !== 1)
    nodes.report(version ?? map, {
      code: 'missing-key',
      message: 'The file has no version.',
      hint: 'Start with version: 1.',
    });
  const page = member(map, 'page');
  const shown = page === undefined ? null : nodes.text(page, 'Address', PAGE, PAGE_HINT);
  const heartbeat = member(map, 'heartbeat');
  const receivers = nodes
    .list(member(map, 'notify'), 'notify')
    .flatMap((node) => parseReceiver(node, nodes) ?? []);
  reportRepeated(member(map, 'notify'), nodes);
  return {
    page: shown?.replace(/\/+$/, '') ?? null,
    receivers,
    heartbeat: heartbeat === undefined ? null : parseHeartbeat(heartbeat, nodes),
  };
}

const PAGE = /^https?:\/\/[^\s@<>"|`\\]+$/;
const PAGE_HINT = 'Write the address of the page, such as https://setpoint.example.com.';
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

function parseReceiver(node: Node, nodes: NotifyNodes): Receiver | null {
  const map = nodes.map(node, RECEIVER, 'A receiver');
  if (map === null) return null;
  const name = nodes.requireMember(map, 'name');
  const named = name && nodes.text(name, 'Name', NAME, 'Write letters, digits, dots, - and _.');
  const to = parseDestination(map, nodes);
  const globs = member(map, 'environments');
  const reminder = member(map, 'reminder');
  // An issue is about drift: that reads fail is not.
  const statuses = nodes.words(member(map, 'statuses'), 'statuses', STATUSES) ?? DEFAULT_STATUSES;
  const events = nodes.words(member(map, 'events'), 'events', EVENTS) ?? EVENTS;
  if (!events.some((event) => PROBLEMS.includes(event))) {
    const message = 'This receiver would never get a notice of a problem.';
    nodes.report(map, { code: 'bad-value', message, hint: 'Add opened or failing to events.' });
  }
  const receiver = {
    environments:
      globs === undefined
        ? null
        : nodes
            .list(globs, 'environments')
            .flatMap(
              (one) =>
                nodes.text(
                  one,
                  'Pattern',
                  /^[\w.*?-]+$/,
                  'Write a name, or a pattern such as prod-*.',
                ) ?? [],
            ),
    selector: parseReceiverSelector(member(map, 'selector'), nodes),
    statuses: new Set(statuses.filter((one) => one !== 'error' || to?.form !== 'github-issue')),
    events: new Set<ReceiverEvent>(
      [...events, ...(reminder === undefined ? [] : ['reminder' as const])].filter(
        (event) => to === null || !FORMS[to.form].excluded.includes(event),
      ),
    ),
    reminder: reminder === undefined ? null : nodes.time(reminder, 'reminder', 60_000),
  };
  return named === null || to === null ? null : { name: named, to, ...receiver };
}

function parseHeartbeat(node: Node, nodes: NotifyNodes): Heartbeat | null {
  const map = nodes.map(node, ['url', 'every'], 'heartbeat');
  const address = map && nodes.requireMember(map, 'url');
  const url = address && nodes.secret(address, 'url');
  const every = map === null ? undefined : member(map, 'every');
  const time = every === undefined ? 60_000 : nodes.time(every, 'every', 10_000);
  if (!url || !address || !isReachedSafely(url, address, 'url', nodes)) return null;
  return time === null ? null : { url, every: time };
}

function parseReceiverSelector(node: Node | undefined, nodes: NotifyNodes): readonly Requirement[] {
  if (node === undefined) return [];
  try {
    return parseSelector(readNodeText(node) ?? '');
  } catch (thrown) {
    const { message, hint } = thrown as SetpointError;
    nodes.report(node, { code: 'bad-value', message, hint });
    return [];
  }
}

function reportRepeated(node: Node | undefined, nodes: NotifyNodes): void {
  const seen = new Set<string>();
  for (const item of node?.kind === 'list' ? node.items : []) {
    const name = member(item, 'name');
    const text = readNodeText(name);
    if (name !== undefined && text !== undefined && seen.has(text))
      nodes.report(name, {
        code: 'declared-twice',
        message: 'Another receiver has this name.',
        hint: 'Give each its own name. setpoint records the sent notices under it.',
      });
    if (text !== undefined) seen.add(text);
  }
}
