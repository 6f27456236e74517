import { stringify } from 'yaml';
import type { KubeObject } from './crd.ts';

/** Objects as a stream of YAML documents, in their order. */
export function yamlStream(objects: readonly KubeObject[]): string {
  return objects.map((object) => `---\n${yamlDocument(object)}`).join('');
}

/** YAML that readers of YAML 1.1, such as kubectl's, read alike: texts such as `yes` and `0x1` are quoted. */
export function yamlDocument(object: unknown): string {
  return stringify(object, { lineWidth: 0, version: '1.1', aliasDuplicateObjects: false });
}

/** Objects as kubectl prints several as JSON. */
export function jsonList(objects: readonly KubeObject[]): KubeObject {
  return { apiVersion: 'v1', kind: 'List', items: objects };
}
