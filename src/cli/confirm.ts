import { createInterface } from 'node:readline/promises';
import type { Io } from './io.ts';

/** How to ask before a write, or null where there is nobody to ask: no terminal, or a pipeline. */
export function confirmWith(io: Io): ((target: string) => Promise<boolean>) | null {
  if (io.stdin.isTTY !== true || io.stderr.isTTY !== true || (io.env['CI'] ?? '') !== '')
    return null;
  return async (target) => {
    const prompt = createInterface({ input: io.stdin, output: io.stderr });
    // In raw mode Ctrl-C arrives here and not as a signal.
    prompt.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    try {
      const answer = await prompt.question(`Apply this to ${target}? Only yes is taken for yes: `, {
        signal: io.signal,
      });
      return answer.trim() === 'yes';
    } catch {
      return false;
    } finally {
      prompt.close();
    }
  };
}
