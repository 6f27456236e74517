import { usageError } from '../../reconciler/model/error.ts';
import { visible } from '../../reconciler/render/text.ts';

const LONGEST_NAME = 64;

/** The name of who suspends, resumes or applies, as it is kept: empty if none is given. Throws a usage error. */
export function nameGiven(text: string | null | undefined): string {
  const name = (text ?? '').trim();
  if (name.length <= LONGEST_NAME && visible(name) === name) return name;
  throw usageError(
    `The name of who does it has ${LONGEST_NAME} characters at most, and none that cannot be seen.`,
    'Give another name.',
  );
}
