import { type Diagnostic, toReportedDiagnostic } from '../model/diagnostic.ts';
import {
  type Check,
  createFailedCheck,
  type MachineCheck,
  createPassedCheck,
  createWarnedCheck,
} from '../model/doctor.ts';
import { ERRORS, SetpointError } from '../model/error.ts';
import { FORMAT_VERSION } from '../model/plan.ts';
import type { ValidationDocument } from '../model/documents.gen.ts';
import { namesListed, didYouMean } from '../model/wording.ts';
import type { LoadedSettings, Target } from '../desired/target.ts';
import { listSettingsFiles, loadTargets, createUnreadableDiagnostic } from './load.ts';
import { defaultFiles } from './settings-files.ts';
import { DEFAULT_FILE, type Options } from './options.ts';
import { selectEnvironments } from './select.ts';
import { partsWithReferences } from '../desired/blocks.ts';
import type { Node } from '../desired/node.ts';
import { isMalformed, parseTemplate } from '../desired/references.ts';
import { diagnostic, createDiagnostic } from '../desired/place-diagnostic.ts';
import { KeyUses, createOriginResolver, createSharedKeyFinding } from '../desired/key-uses.ts';
import { fileIdentity } from '../host/reference-source.ts';
import { secretCommands } from '../host/secret-commands.ts';
import type { Variables } from '../model/ports.ts';

/** Checks the files offline: schema, form of references, rules across fields. Variables are not read. */
export async function validate(options: Options): Promise<ValidationDocument> {
  return validationDocument(checkTargets(options).diagnostics);
}

/**
 * The problems in the files, and the environments that were found, or those that are named. An unreadable file also counts as a problem.
 */
export function checkTargets(options: Options): Pick<LoadedSettings, 'targets' | 'diagnostics'> {
  try {
    const loaded = loadTargets(options);
    if (loaded.targets.length === 0) return loaded;
    const targets = selectEnvironments(loaded.targets, options);
    const unknown =
      options.resolveSecret === undefined ? unknownCommands(targets, options.env) : [];
    return {
      targets,
      diagnostics: [...loaded.diagnostics, ...findKeysSentTwice(loaded), ...unknown],
    };
  } catch (thrown) {
    if (!(thrown instanceof SetpointError) || thrown.code !== 'file-unreadable') throw thrown;
    const [file = DEFAULT_FILE] = [options.file ?? defaultFiles()].flat();
    return {
      targets: [],
      diagnostics: [createUnreadableDiagnostic(file, thrown.message, thrown.hint)],
    };
  }
}

export function validationDocument(diagnostics: readonly Diagnostic[]): ValidationDocument {
  return {
    format_version: FORMAT_VERSION,
    kind: 'validation',
    valid: !diagnostics.some(({ severity }) => severity === 'error'),
    diagnostics: diagnostics.map(toReportedDiagnostic),
  };
}

/** Checks the settings files and reports the first problem; `setpoint validate` shows all of them. */
export function checkFiles(options: Options): Check<MachineCheck> {
  const { targets, diagnostics } = checkTargets(options);
  const files = listSettingsFiles(options);
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const [first] = errors;
  if (first !== undefined) {
    const { file, line, column, message, hint } = first;
    const others = errors.length === 1 ? '' : ` (the first of ${errors.length} problems)`;
    return createFailedCheck('file', {
      code: 'settings-invalid',
      message: `${file}:${line}:${column}: ${message}${others}`,
      hint: errors.length === 1 ? hint : `${hint} ${ERRORS['settings-invalid'].hint}`,
    });
  }
  const verb = files.length === 1 ? 'is' : 'are';
  const names = `${namesListed(files)} ${verb} valid, for ${namesListed(targets.map(({ name }) => name))}`;
  const [warning] = diagnostics;
  return warning === undefined
    ? createPassedCheck('file', names)
    : createWarnedCheck('file', `${names}; ${warning.message}`, warning.hint);
}

/** The keys that files would send to two origins, if they write the origins out: no variable is read. */
function findKeysSentTwice({ targets }: Pick<LoadedSettings, 'targets'>): readonly Diagnostic[] {
  const uses = new KeyUses({ fileOf: fileIdentity, originOf: createOriginResolver(null) });
  for (const target of targets) uses.add(target);
  return uses.listShared(targets).map((shared) => createDiagnostic(createSharedKeyFinding(shared)));
}

/**
 * Warnings of secret commands that SETPOINT_SECRET_COMMANDS does not name here. It may differ where the file is applied, so without it
 * nothing is known, and nothing is reported. No command is run.
 */
function unknownCommands(targets: Iterable<Target>, env: Variables): readonly Diagnostic[] {
  const known = [...secretCommands(env).keys()];
  if (known.length === 0) return [];
  const seen = new Set<Node>();
  return [...targets].flatMap((target) =>
    [target.server, ...partsWithReferences(target)].flatMap((part) =>
      listUnknownCommands(part, known, seen),
    ),
  );
}

function listUnknownCommands(
  node: Node | undefined,
  known: readonly string[],
  seen: Set<Node>,
): readonly Diagnostic[] {
  if (node === undefined || seen.has(node)) return [];
  seen.add(node);
  if (node.kind === 'list')
    return node.items.flatMap((item) => listUnknownCommands(item, known, seen));
  if (node.kind === 'map')
    return [...node.members.values()].flatMap((one) => listUnknownCommands(one.node, known, seen));
  const parts = typeof node.value === 'string' ? parseTemplate(node.value) : [];
  if (isMalformed(parts)) return [];
  const unknown = parts.find(
    (part) => typeof part !== 'string' && part.kind === 'secret' && !known.includes(part.command),
  );
  if (unknown === undefined || typeof unknown === 'string' || unknown.kind !== 'secret') return [];
  const { command } = unknown;
  const finding = {
    severity: 'warning',
    code: 'bad-reference',
    message: `SETPOINT_SECRET_COMMANDS names no command ${command} here.`,
    hint: `${didYouMean(command, known)} If it is named where the file is applied, leave it so.`.trim(),
  } as const;
  return [diagnostic(node.file, node.at, finding)];
}
