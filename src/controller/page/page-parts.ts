import { createHash } from 'node:crypto';
import type { WatchState } from '../../reconciler/model/watch.ts';
import { namesListed } from '../../reconciler/model/wording.ts';
import { markup, markupSource, type Markup } from '../../reconciler/render/html/page.ts';
import type { Watching } from '../watch/watching.ts';
import { findConditionAlert, hasRunbook } from '../../reconciler/model/alert-names.ts';
import { ageHtml, clockText } from './times.ts';

/** A piece of a page that can be replaced alone: one element with this id. Equal keys mean that the piece has not changed. */
export interface PagePart {
  readonly id: string;
  readonly key: string;
  readonly html: () => Markup;
}

/** The live parts of a page, and for a list the ids of its rows in their order. */
export interface LiveView {
  readonly parts: readonly PagePart[];
  readonly order: readonly string[] | null;
}

/** Equal for two views that look the same. `boot` names this start of the controller. */
export function computeViewVersion({ parts, order }: LiveView, boot: string): string {
  const digest = createHash('sha256').update(boot);
  for (const { id, key } of parts) digest.update(`\0${id}\0${key}`);
  for (const id of order ?? []) digest.update(`\0\0${id}`);
  return digest.digest('base64url').slice(0, 22);
}

/** The part of a view with an id, as markup. */
export function partHtml({ parts }: LiveView, id: string): Markup {
  const found = parts.find((part) => part.id === id);
  if (found === undefined) throw new Error(`A view has no part ${id}.`);
  return found.html();
}

/** The HTML of parts by id, as a stream sends it. */
export function sources(parts: readonly PagePart[]): Record<string, string> {
  return Object.fromEntries(parts.map(({ id, html }) => [id, markupSource(html())]));
}

/** A text as a part's key. */
export function partKey(...values: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(values)).digest('base64url').slice(0, 16);
}

/**
 * Equal as long as an environment is displayed the same. It includes the next read, which is set only after listeners were notified of the
 * last one.
 */
export function computeStateKey(state: WatchState): string {
  const { status, found, since, after, digest, lastRead, nextRead, lastInSync, lastApply } = state;
  const { failures, suspended, stopped, heldBy, commit, settings, labels, origin, release } = state;
  return partKey(
    [status, found, since, after, digest, lastRead, nextRead, lastInSync, lastApply],
    [failures, suspended, stopped, heldBy, commit, settings, labels, origin, release],
  );
}

/** The id of the element of an environment, whatever its name is. */
export function elementId(name: string): string {
  return `e-${partKey(name)}`;
}

/** The address of an environment's page. Halves of surrogate pairs in its name are replaced. */
export function environmentAddress(name: string): string {
  return `/environments/${encodeURIComponent(Buffer.from(name).toString())}`;
}

/** A link to the runbook of an alert; null if there is none. */
export function runbookLink(alert: string | undefined): Markup | null {
  if (alert === undefined || !hasRunbook(alert)) return null;
  return markup`<a href="/runbooks/${alert}">What to do</a>`;
}

/** The number of missed turns after which a loop counts as hanging. */
const MISSED = 3;

/** Reports whether the controller's loop is running. */
export function isAlive({ health }: Watching, now: number): boolean {
  return now - health.turnedAt <= MISSED * health.turnsEvery;
}

/** Renders the problems of the controller itself; empty if there are no problems. */
export function controllerPart(watching: Watching, now: number): PagePart {
  const { ready, shard, unwatched = new Map<string, number>() } = watching.health;
  const left = [...unwatched].filter(([, many]) => many > 0);
  const conditions = watching.conditions.list();
  const isHanging = !isAlive(watching, now);
  return {
    id: 'controller',
    key: partKey(conditions, ready, isHanging, left),
    html: () => {
      const problems = [
        isHanging
          ? markup`<li>✗ The controller has stopped reading. Check its log, and restart it. ${runbookLink('SetpointStuck')}</li>\n`
          : null,
        ...conditions.map(
          ({ kind, message, since }) =>
            markup`<li>! ${message} Since ${clockText(since)}, ${ageHtml(since, now)}. ${runbookLink(findConditionAlert(kind))}</li>\n`,
        ),
      ].filter((problem) => problem !== null);
      const notes = [
        ready ? null : 'Some environments have not been read since the controller started.',
        left.length === 0
          ? null
          : `SettingsTargets that are not watched: ${namesListed(left.map(([reason, many]) => `${many} ${reason}`))}. kubectl get spt -A lists them.`,
        shard === null ? null : `This controller watches shard ${shard.index} of ${shard.count}.`,
      ].filter((note) => note !== null);
      return markup`<div id="controller">${
        problems.length === 0
          ? null
          : markup`<ul class="box ${isHanging ? 'bad' : 'warn'}">
${problems}</ul>
`
      }${notes.map((note) => markup`<p class="soft">${note}</p>\n`)}</div>
`;
    },
  };
}
