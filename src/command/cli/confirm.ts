import { once } from 'node:events';
import type { Interface } from 'node:readline/promises';
import { visible } from '../../reconciler/render/text.ts';
import { isTerminal, type Io } from './io.ts';

/** The question before a write, or null if it cannot be answered: without a terminal, and in a pipeline. */
export function confirmWith(
  io: Io,
  ask: (target: string) => string,
): ((target: string) => Promise<boolean>) | null {
  const { stderr } = io;
  const stdin = io.stdin();
  if (stdin.isTTY !== true || !isTerminal(stderr) || (io.env['CI'] ?? '') !== '') return null;
  return async (target) => {
    const { createInterface } = await import('node:readline/promises');
    const prompt = createInterface({ input: stdin, output: stderr });
    // In raw mode Ctrl-C arrives here and not as a signal.
    prompt.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    try {
      const first = await answer(prompt, `${ask(visible(target))} ${ONLY_YES}`, io.signal);
      if (first === 'yes') return true;
      if (first === null || NO.test(first)) return false;
      return (await answer(prompt, ONLY_YES, io.signal)) === 'yes';
    } catch {
      // A signal has cancelled the question.
      stderr.write('\n');
      return false;
    } finally {
      prompt.close();
      stderr.write('\n');
    }
  };
}

/** Answers that decline at once. After any other the question is repeated, because it may be misspelt. */
const NO = /^(n|no|q|quit)$/i;

const ONLY_YES = 'Only "yes" is accepted: ';

/** Returns the typed answer, or null if the input has ended. */
async function answer(
  prompt: Interface,
  question: string,
  signal: AbortSignal,
): Promise<string | null> {
  const ended = once(prompt, 'close', { signal }).then(() => null);
  ended.catch(() => {});
  const typed = await Promise.race([prompt.question(question, { signal }), ended]);
  return typed === null ? null : typed.trim();
}
