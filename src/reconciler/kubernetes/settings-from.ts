import {
  listMembers,
  member,
  sourceFile,
  readNodeText,
  type Finding,
  type Node,
  type PlacedFinding,
} from '../desired/node.ts';
import { isData } from '../desired/references.ts';
import { diagnostic, createDiagnostic } from '../desired/place-diagnostic.ts';
import { parseBaseReferences, readTargets, type Target } from '../desired/target.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { isList, isRecord, createRecord, type Value, type ValueRecord } from '../model/value.ts';
import { namesListed } from '../model/wording.ts';
import type { TargetInput, SettingsTarget, TargetSpec } from './settings-target.ts';
import { createTargetSpec } from './spec.ts';

/** A spec, whether it was written out or names a ConfigMap; or the reason why it is missing. */
type FromConfigMap =
  | { readonly spec: ValueRecord; readonly warnings: readonly Diagnostic[] }
  | { readonly problems: readonly Diagnostic[] };

/** The spec with what the ConfigMap declares that it names, if it names one. */
export function mergeConfigMap(
  { metadata, spec }: SettingsTarget,
  given: TargetInput,
): FromConfigMap {
  const from = spec['settingsFrom'];
  if (!isRecord(from)) return { spec, warnings: [] };
  const { name, key } = isRecord(from['configMapKeyRef']) ? from['configMapKeyRef'] : {};
  const isNamed = typeof name === 'string' && typeof key === 'string';
  const path = isNamed ? `ConfigMap ${name}, key ${key}` : 'ConfigMap';
  const file = sourceFile(path, given.settings ?? '');
  const refused = (finding: Finding): FromConfigMap => ({
    problems: [diagnostic(file, 0, finding)],
  });
  if (typeof given.settings !== 'string')
    return refused({ ...NO_CONFIG_MAP, path: ['settingsFrom'] });
  const [base] = parseBaseReferences(path, given.settings);
  if (base !== undefined) return { problems: [base.diagnose(NO_BASE.message, NO_BASE.hint)] };
  const lock = given.lock === undefined ? {} : { lock: given.lock };
  const loaded = { path, text: given.settings, bases: [], ...lock };
  const { targets, diagnostics } = readTargets(loaded, { serverGiven: true, several: false });
  const references = targets.slice(0, 1).flatMap(({ root }) => findNodeReferences(root, []));
  if (references.length > 0) return { problems: references.map(createDiagnostic) };
  if (diagnostics.some(({ severity }) => severity === 'error')) return { problems: diagnostics };
  const chosen = choose(targets, from['environment'], metadata.name);
  if (!('root' in chosen)) return refused(chosen);
  const { target, findings } = withoutServer(chosen, spec.server);
  const made = createTargetSpec(target, undefined);
  const all = [...findings, ...made.findings].map(createDiagnostic);
  if (all.length > 0) return { problems: all };
  const { server: _server, mode: _mode, ...declared } = made.spec;
  return { spec: { ...declared, ...withOwn(declared, spec) }, warnings: diagnostics };
}

/** The places of references in a file, whichever environment they belong to, including those of keys. */
function findNodeReferences(node: Node, path: readonly string[]): readonly PlacedFinding[] {
  if (node.kind === 'list')
    return node.items.flatMap((item, index) => findNodeReferences(item, [...path, String(index)]));
  if (node.kind === 'map')
    return listMembers(node).flatMap(({ key, keyFile: file, keyAt: at, node: inner }) => {
      const own = [...path, key];
      const finding = { ...NO_REFERENCES, path: own };
      return [...(isData(key) ? [] : [{ file, at, finding }]), ...findNodeReferences(inner, own)];
    });
  if (typeof node.value !== 'string' || isData(node.value)) return [];
  return [{ file: node.file, at: node.at, finding: { ...NO_REFERENCES, path } }];
}

const NO_REFERENCES = {
  code: 'bad-reference',
  message: 'References are not resolved in a ConfigMap that a SettingsTarget names.',
  hint: 'Remove it, and name the key of a Secret under spec.valuesFrom of the object, with this path; write $${ for a literal ${.',
} as const;

/** Merges the object's own declarations with those of a ConfigMap: its guards over those of the file, its values next to them. */
function withOwn(declared: ValueRecord, spec: TargetSpec): ValueRecord {
  const both = (name: string): Value => {
    const [below, above] = [declared[name], spec[name]];
    if (isRecord(below) && isRecord(above)) return { ...below, ...above };
    if (isList(below) && isList(above)) return [...below, ...above];
    return above ?? below ?? null;
  };
  const names = [...new Set([...Object.keys(declared), ...Object.keys(spec)])];
  return createRecord(names.map((name) => [name, both(name)]));
}

const NO_CONFIG_MAP = {
  code: 'unreadable',
  message: 'No such ConfigMap, or no such key in it.',
  hint: 'Create it in the namespace of the SettingsTarget.',
} as const;
const NO_BASE = {
  message: 'A file in a ConfigMap cannot extend another file.',
  hint: 'Put the whole file into the ConfigMap.',
};

/** The environment of a file that an object is for: the one it names, else that of its own name, else the only one. */
function choose(
  targets: readonly Target[],
  named: Value | undefined,
  object: string,
): Target | Finding {
  const wanted = typeof named === 'string' ? named : undefined;
  const [only, ...others] = targets;
  const found =
    targets.find(({ name }) => name === (wanted ?? object)) ??
    (wanted === undefined && others.length === 0 ? only : undefined);
  return (
    found ?? {
      code: 'unknown-name',
      message:
        wanted === undefined
          ? 'The file has several environments, and the SettingsTarget names none of them.'
          : `The file has no environment ${wanted}.`,
      hint: `Name one in settingsFrom.environment: ${namesListed(targets.map(({ name }) => name))}.`,
      path: ['settingsFrom', 'environment'],
    }
  );
}

/** A target without its server, which the object names; a file that names another one is a problem. */
function withoutServer(
  target: Target,
  server: ValueRecord,
): { readonly target: Target; readonly findings: readonly PlacedFinding[] } {
  const node = member(target.server, 'url');
  const isSame = node === undefined || readNodeText(node)?.trim() === server['url'];
  const finding = {
    code: 'declared-twice',
    message: 'The file names another server than the SettingsTarget.',
    hint: 'Leave server out of the file, or write the url of the SettingsTarget.',
    path: ['server', 'url'],
  } as const;
  const findings = isSame ? [] : [{ file: node.file, at: node.at, finding }];
  return { target: { ...target, server: undefined }, findings };
}
