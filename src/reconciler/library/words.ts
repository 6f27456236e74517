import { SetpointError } from '../model/error.ts';
import { OPTION_RULES, type FunctionName } from './check-request.ts';

/** The options that have another name than their flag. */
const SHORT: Readonly<Record<string, string>> = {
  '-e': 'targets',
  '-f': 'file',
  '-l': 'selector',
  '--env': 'targets',
  '--only-if-empty': 'ifEmpty',
};

/** Rewrites an error of use, or of a file, of the command line: it names the options of the function instead of flags. */
export function inOptions(name: FunctionName, thrown: unknown): unknown {
  if (!(thrown instanceof SetpointError)) return thrown;
  if (thrown.code !== 'usage' && thrown.code !== 'file-unreadable') return thrown;
  const { code, message, hint } = thrown;
  const rules = OPTION_RULES[name];
  const rename = (text: string): string =>
    text.replaceAll(/(?<![\w-])--?[a-z][a-z-]*/g, (flag) => {
      const option =
        SHORT[flag] ??
        flag.slice(2).replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
      return Object.hasOwn(rules, option) ? option : flag;
    });
  const isGeneral = hint === new SetpointError(code, '').hint && code === 'usage';
  return Object.assign(thrown, {
    message: rename(message),
    hint: isGeneral ? 'docs/reference/library.md lists the options.' : rename(hint),
  });
}
