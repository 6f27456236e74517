import { markup } from '../../reconciler/render/html/markup.ts';
import type { Watching } from '../watch/watching.ts';
import { keyOf, type Part } from './parts.ts';
import { timeHtml } from './times.ts';

/** How many turns a loop may miss before it counts as hanging. */
const MISSED = 3;

/** Whether the controller's loop turns. */
export function isAlive({ health }: Watching, now: number): boolean {
  return now - health.turnedAt <= MISSED * health.turnsEvery;
}

/** What is wrong with the controller itself; empty if all is well. */
export function controllerPart(watching: Watching, now: number): Part {
  const { ready, shard } = watching.health;
  const conditions = watching.conditions.list();
  const isHanging = !isAlive(watching, now);
  return {
    id: 'controller',
    key: keyOf(conditions, ready, isHanging),
    html: () => {
      const problems = [
        isHanging
          ? markup`<li>✗ The controller has stopped reading. Check its log, and restart it.</li>\n`
          : null,
        ...conditions.map(
          ({ message, since }) => markup`<li>! ${message} (since ${timeHtml(since, now)})</li>\n`,
        ),
      ].filter((problem) => problem !== null);
      const notes = [
        ready ? null : 'Some environments have not been read since the controller started.',
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
