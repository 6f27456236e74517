import { markup } from '../render/html/markup.ts';
import type { Watching } from '../watch/watching.ts';
import { keyOf, type Part } from './parts.ts';

/** How often a loop may fail to turn before it counts as standing. */
const MISSED = 3;

/** Whether the controller's loop turns. */
export function isAlive({ health }: Watching, now: number): boolean {
  return now - health.turnedAt <= MISSED * health.turnsEvery;
}

/** What is wrong with the controller itself, so that the page may be older than it looks; nothing if all is well. */
export function controllerPart(watching: Watching, now: number): Part {
  const { filesProblem, ready, shard } = watching.health;
  const isStanding = !isAlive(watching, now);
  return {
    id: 'controller',
    key: keyOf(filesProblem, ready, isStanding),
    html: () => {
      const problems = [
        isStanding
          ? markup`<li>✗ The controller stands still: nothing is read. Check its log, and restart it.</li>\n`
          : null,
        filesProblem === null
          ? null
          : markup`<li>! The settings files of now cannot be used; those before stay in force. ${filesProblem}</li>\n`,
      ].filter((problem) => problem !== null);
      const notes = [
        ready ? null : 'Some environments have not been read since the controller started.',
        shard === null ? null : `This controller watches shard ${shard.index} of ${shard.count}.`,
      ].filter((note) => note !== null);
      return markup`<div id="controller">${
        problems.length === 0
          ? null
          : markup`<ul class="box ${isStanding ? 'bad' : 'warn'}">
${problems}</ul>
`
      }${notes.map((note) => markup`<p class="soft">${note}</p>\n`)}</div>
`;
    },
  };
}
