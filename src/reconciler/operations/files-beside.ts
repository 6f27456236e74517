import { lockPath, readLock } from '../desired/schema-lock.ts';
import { SetpointError } from '../model/error.ts';
import { NATIVE_PARTS } from '../model/field.ts';
import type { SchemaLock } from '../model/native-schema.ts';
import { readOptional, isThere, namesIn } from '../host/read-text.ts';
import { type Options, DEFAULT_FILE } from './options.ts';
import { dirname, resolve, join } from 'node:path';
import { lookUpAll } from '../desired/lookup.ts';
import { member, textOf } from '../desired/node.ts';
import { mayHoldReference } from '../desired/references.ts';
import type { Target } from '../desired/target.ts';
import { lookedAtBesides } from '../host/reference-source.ts';
import type { Running } from './redacting.ts';
import { matches } from '../model/matcher.ts';
import { namesListed } from '../model/wording.ts';

/** Options with the lock to read settings with, in place of the file beside them. */
export interface LockOptions extends Options {
  readonly lock?: SchemaLock;
}

export const LARGEST_LOCK = 1024 * 1024;

/**
 * The lock of a settings file, if the texts of it and its base may declare native parts. Throws file-unreadable if it cannot be
 * read.
 */
export function lockFor(
  path: string,
  texts: readonly string[],
  { lock }: LockOptions,
): { readonly lock?: SchemaLock } {
  if (lock !== undefined) return { lock };
  if (!texts.some(mayHaveNativeParts)) return {};
  const text = textOfLock(path);
  return text === null ? {} : { lock: readLock(lockPath(path), text) };
}

/** Null if there is no lock. */
export function textOfLock(file: string): string | null {
  try {
    return readOptional(lockPath(file), LARGEST_LOCK);
  } catch (thrown) {
    if (!(thrown instanceof SetpointError)) throw thrown;
    throw new SetpointError('file-unreadable', thrown.message, {
      hint: 'Put a schema lock there: remove what is there, and run setpoint schema pull.',
      cause: thrown,
    });
  }
}

/** An escape in a double-quoted key may spell the name of a part as well. */
function mayHaveNativeParts(text: string): boolean {
  return /\\[xuU]/.test(text) || [...NATIVE_PARTS].some((part) => text.includes(part));
}

/** The files that are read whenever targets are planned or applied, besides their settings. */
export function filesRead(targets: Iterable<Target>, options: Options): ReadonlySet<string> {
  const { env } = options;
  const files = new Set<string>();
  const references = {
    variable: () => undefined,
    file: (path: string) => {
      files.add(path);
      return { problem: '' };
    },
  };
  for (const { server, settings } of targets)
    for (const part of [server, settings]) lookUpAll(part, references, undefined);
  if (files.size > 0) for (const path of lookedAtBesides(env)) files.add(path);
  for (const target of targets) {
    const certificates = textOf(member(target.server, 'ca_file')) ?? '';
    if (certificates !== '' && !mayHoldReference(certificates))
      files.add(resolve(dirname(target.file), certificates));
    if ((env['SETPOINT_STATE_KEY'] ?? '') !== '') files.add(fingerprintPath(target, options));
  }
  return files;
}

/** Throws if the disk of a file that is to be read does not answer. */
export function assertAnswers(path: string, { silent }: Pick<Running<Options>, 'silent'>): void {
  if (!silent.has(path)) return;
  throw new SetpointError('timed-out', `${path} does not answer.`, {
    hint: 'Check the disk that it is on.',
  });
}

/** Where it is kept what is known of the secrets last written to a target: beside the settings, unless they are of a commit. */
export function fingerprintPath(
  { file }: Pick<Target, 'file'>,
  { checkout }: Pick<Options, 'checkout'>,
): string {
  return resolve(checkout?.state ?? dirname(file), '.setpoint/fingerprints.json');
}

/** Names of settings files that need not be given, each of another kind: schema stores know the latter two by their names. */
const OWN_FILE = 'setpoint.yaml';
const OWN_FILES = '*.setpoint.yaml';

/**
 * The settings files of a folder if nobody names one: settings.yaml, setpoint.yaml, or all that match *.setpoint.yaml; settings.yaml if there
 * are none. Throws a usage error that names them if there are files of two kinds, so that none is left out without a word.
 */
export function defaultFiles(folder = '.'): readonly string[] {
  const single = [DEFAULT_FILE, OWN_FILE].filter((name) => isThere(join(folder, name)));
  const several = isThere(folder)
    ? namesIn(folder).filter((name) => matches(name, [OWN_FILES]))
    : [];
  const found = [...single, ...several.toSorted()];
  if (single.length > 1 || (single.length === 1 && several.length > 0)) {
    throw new SetpointError(
      'usage',
      `This folder has several settings files: ${namesListed(found)}.`,
      {
        hint: 'Name the one you mean with -f; without it they must be of one kind.',
      },
    );
  }
  return found.length > 0 ? found : [DEFAULT_FILE];
}
