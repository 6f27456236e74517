import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { confirmWith } from '../../../src/command/cli/confirm.ts';

/** A terminal on which a person types these lines, each at its prompt; null ends the input. */
async function answered(...lines: readonly (string | null)[]) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const stderr = Object.assign(new PassThrough(), { isTTY: true });
  const left = [...lines];
  let shown = '';
  stderr.on('data', (chunk: Buffer) => {
    shown += chunk.toString();
    if (!chunk.toString().includes('accepted: ')) return;
    const line = left.shift();
    if (line === null) stdin.end();
    else if (line !== undefined) stdin.write(`${line}\n`);
  });
  const { signal } = new AbortController();
  const io = { env: {}, stdin: () => stdin, stdout: stderr, stderr, signal, abandon: signal };
  const ask = confirmWith(io, (target) => `Apply these changes to ${target}?`);
  const yes = await ask?.('production');
  return { yes, asked: shown.match(/Only "yes" is accepted: /g)?.length, left };
}

it.each([
  ['yes', ['yes'], true, 1],
  ['anything else, and then yes', ['y', 'yes'], true, 2],
  ['anything else twice', ['y', 'YES'], false, 2],
  ['no', ['no'], false, 1],
  ['N', ['N'], false, 1],
  ['something else, and then no', ['nope', 'no'], false, 2],
  ['the end of the input', [null], false, 1],
  ['the end of the input at the second question', ['', null], false, 2],
] as const)('the answer %s', async (_, lines, yes, asked) => {
  expect(await answered(...lines)).toEqual({ yes, asked, left: [] });
});
