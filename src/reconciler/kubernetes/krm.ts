import { isMap, isSeq, parseDocument, type Document, type YAMLMap, type YAMLSeq } from 'yaml';
import type { Diagnostic } from '../model/diagnostic.ts';
import { usageError } from '../model/error.ts';
import type { KubeObject } from './crd.ts';
import { yamlDocument } from './objects.ts';

/** The members of a functionConfig. */
export interface FunctionConfig {
  /** The settings file. */
  readonly text: string;
  /** True if it is also a text in the functionConfig: its lines are meaningful, and paths inside are not. */
  readonly isText: boolean;
  readonly secret?: string | undefined;
  readonly namespace?: string | undefined;
  readonly environments?: readonly string[] | undefined;
  readonly crd?: boolean | undefined;
}

/** A ResourceList as a client of KRM functions hands it in; comments stay. */
export interface ResourceList {
  readonly config: FunctionConfig;
  /** The list with these objects among its items, instead of those of the same names. */
  readonly withObjects: (objects: readonly KubeObject[]) => string;
  /** The list as it came, with what is wrong with the settings. */
  readonly withProblems: (diagnostics: readonly Diagnostic[]) => string;
}

const LIST = 'A ResourceList is needed: apiVersion config.kubernetes.io/v1, with a functionConfig.';

/**
 * Reads the input of a KRM function. The functionConfig is a ConfigMap with a key `settings.yaml`, or any object with the settings file
 * as `spec.file`, as a map or as text. Throws a usage error for anything else.
 */
export function readResourceList(input: string): ResourceList {
  const document = parseDocument(input);
  const contents: unknown = document.contents;
  if (document.errors.length > 0 || !isMap(contents) || contents.get('kind') !== 'ResourceList')
    throw usageError('stdin contains no ResourceList.', LIST);
  const config = parseFunctionConfig(document.toJS() as { readonly functionConfig?: unknown });
  return {
    config,
    withObjects: (objects) => {
      const items = ensureItemsList(document, contents);
      const added = new Set(objects.map(identity));
      items.items = items.items.filter((item) => !added.has(identity(toObject(document, item))));
      for (const object of objects) items.add(parseDocument(yamlDocument(object)).contents);
      return document.toString({ lineWidth: 0 });
    },
    withProblems: (diagnostics) => {
      const results = diagnostics.map((one) => krmResult(one, config.isText));
      contents.set('results', document.createNode(results));
      return document.toString({ lineWidth: 0 });
    },
  };
}

function ensureItemsList(document: Document, contents: YAMLMap): YAMLSeq {
  const items = contents.get('items', true);
  if (isSeq(items)) {
    items.flow = false;
    return items;
  }
  const made = document.createNode([]) as YAMLSeq;
  contents.set('items', made);
  return made;
}

function toObject(document: Document, item: unknown): KubeObject {
  return (isMap(item) ? item.toJS(document) : {}) as KubeObject;
}

function identity({ apiVersion, kind, metadata }: KubeObject): string {
  const { name, namespace } = (metadata ?? {}) as Readonly<Record<string, unknown>>;
  return JSON.stringify([apiVersion, kind, namespace ?? null, name ?? null]);
}

function krmResult(
  { message, hint, severity, file, line, path }: Diagnostic,
  isText: boolean,
): object {
  const said = `${message} ${hint}`;
  return isText
    ? { message: `${file}:${line}: ${said}`, severity }
    : { message: said, severity, field: { path: ['spec', 'file', ...path].join('.') } };
}

type Members = Readonly<Record<string, unknown>>;

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parseFunctionConfig({
  functionConfig,
}: {
  readonly functionConfig?: unknown;
}): FunctionConfig {
  if (!isMembers(functionConfig)) throw usageError('The ResourceList has no functionConfig.', FORM);
  const { kind, data, spec } = functionConfig;
  const from = kind === 'ConfigMap' ? data : spec;
  if (!isMembers(from)) throw usageError('The functionConfig has no settings file.', FORM);
  const file = from[kind === 'ConfigMap' ? 'settings.yaml' : 'file'];
  if (typeof file !== 'string' && !isMembers(file))
    throw usageError('The functionConfig has no settings file.', FORM);
  const word = (name: string): string | undefined =>
    typeof from[name] === 'string' ? from[name] : undefined;
  const { environments, crd } = from;
  const named = Array.isArray(environments)
    ? environments.filter((one) => typeof one === 'string')
    : word('environments')?.split(',');
  return {
    text: typeof file === 'string' ? file : JSON.stringify(file, null, 1),
    isText: typeof file === 'string',
    secret: word('secret'),
    namespace: word('namespace'),
    environments: named?.map((name) => name.trim()),
    crd: crd === true || crd === 'true',
  };
}

const FORM =
  'Hand in a ConfigMap with the key settings.yaml, or an object of another kind with the file under spec.file.';
