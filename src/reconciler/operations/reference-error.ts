import { ERRORS, SetpointError } from '../model/error.ts';
import { namesListed } from '../model/wording.ts';

/** The error of references without a value. Its hint names the variables that are not set, and `ways` to do without. */
export function referenceError(message: string, ways = ''): SetpointError {
  const unset = [...message.matchAll(/the variable ([A-Za-z_]\w*) is (?:not set|empty)/g)];
  const names = [...new Set(unset.map(([, name = '']) => name))];
  const { hint } = ERRORS['reference-missing'];
  const set =
    names.length === 0
      ? (secretHint(message) ?? hint)
      : `Set ${namesListed(names)}, and run again.`;
  return new SetpointError('reference-missing', message, {
    hint: ways === '' ? set : `${set} ${ways}`,
  });
}

/** What to do about a secret that a command did not give, by the message of the error; null if there is none in it. */
function secretHint(message: string): string | null {
  if (message.includes('SETPOINT_SECRET_COMMANDS names no command'))
    return 'Add it to SETPOINT_SECRET_COMMANDS, where setpoint runs.';
  return message.includes('the secret command ')
    ? 'Run that command by hand, where setpoint runs, to see what it says.'
    : null;
}
