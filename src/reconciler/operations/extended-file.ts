import { declaredOrigin } from '../desired/blocks/server.ts';
import { member, plainValue } from '../desired/node.ts';
import { parseFile } from '../desired/parse.ts';
import type { LoadedFile, Target } from '../desired/target.ts';
import { SetpointError } from '../model/error.ts';
import { type Json, masked } from '../model/value.ts';
import { type NewEnvironment, withEnvironment } from '../pull/first-files.ts';
import { checkName } from './initial-place.ts';
import type { Options } from './options.ts';
import type { Running } from './redacting.ts';
import { selectLoaded } from './select.ts';
import { isObject, type JsonObject, sameJson } from '../yaml-edit/source.ts';

/** What is asked of the file alone, of all its environments. */
export function ofFile<R extends Running<Omit<Options, 'targets' | 'text'>>>(request: R) {
  return {
    ...request,
    server: undefined,
    targets: undefined,
    selector: undefined,
    shard: undefined,
  };
}

/** The file that gets an environment of this name, those that it has, and the origin that all have. Throws a SetpointError if it cannot get it. */
export function fileToExtend(
  name: string,
  options: Options,
): {
  readonly file: LoadedFile;
  readonly targets: readonly Target[];
  readonly origin: string | null;
} {
  const {
    files: [file],
    targets,
  } = selectLoaded(options);
  if (file === undefined) throw notEdited();
  checkName(name, targets);
  const [first] = targets;
  return { file, targets, origin: first === undefined ? null : declaredOrigin(first.shared) };
}

/** The text of the file with one more environment. */
export function withOneMore(
  file: LoadedFile,
  before: readonly Target[],
  environment: NewEnvironment,
): string {
  const { root } = parseFile(file.path, file.text);
  const hasEnvironments = member(root ?? undefined, 'environments') !== undefined;
  const text = withEnvironment(file.text, before, hasEnvironments, environment);
  if (text === null) throw notEdited();
  return text;
}

/** Blocks without what the blocks above the environments of a file say already. */
export function withoutShared(blocks: JsonObject, [first]: readonly Target[]): JsonObject {
  const entries = Object.entries(blocks).flatMap(([block, value]): [string, Json][] => {
    const node = first?.shared[block as keyof Target['shared']];
    const above = node === undefined ? null : masked(plainValue(node));
    if (!isObject(above) || !isObject(value)) return [[block, value]];
    const own = Object.entries(value).filter(
      ([name, one]) => !Object.hasOwn(above, name) || !sameJson(one, above[name] ?? null),
    );
    return own.length === 0 ? [] : [[block, Object.fromEntries(own)]];
  });
  return Object.fromEntries(entries);
}

export function notEdited(): SetpointError {
  return new SetpointError('internal', 'The file could not be edited. Nothing was written.', {
    hint: 'Add the environment by hand, and please report how the file is written.',
  });
}
