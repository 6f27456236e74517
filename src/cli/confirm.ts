import { createInterface } from 'node:readline/promises';
import { visible } from '../render/visible.ts';
import type { Io } from './io.ts';

/** How to ask before a write, or null where there is nobody to ask: no terminal, or a pipeline. */
export function confirmWith(
  io: Io,
  ask: (target: string) => string,
): ((target: string) => Promise<boolean>) | null {
  if (io.stdin.isTTY !== true || io.stderr.isTTY !== true || (io.env['CI'] ?? '') !== '')
    return null;
  return async (target) => {
    const prompt = createInterface({ input: io.stdin, output: io.stderr });
    // In raw mode Ctrl-C arrives here and not as a signal.
    prompt.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    try {
      const question = `${ask(visible(target))} Only yes is taken for yes: `;
      return (await prompt.question(question, { signal: io.signal })).trim() === 'yes';
    } catch {
      // The question was taken back: the signal says why.
      io.stderr.write('\n');
      return false;
    } finally {
      prompt.close();
      io.stderr.write('\n');
    }
  };
}
