import type { Diagnostic } from '../model/diagnostic.ts';
import { checkReferences } from './check-references.ts';
import { checkRules } from './check-rules.ts';
import { checkSchema, pointer } from './check-schema.ts';
import type { MapNode } from './node.ts';
import { diagnostic, type PlacedFinding } from './report.ts';

/** Every problem of the blocks in a file, each once: what only follows from another one is left out. */
export function checkFile(root: MapNode): Diagnostic[] {
  const { findings: ofValues, spoken } = checkReferences(root);
  const told = new Set([...spoken, ...ofValues.map(({ path }) => path)].map(pointer));
  const ofSchema = checkSchema(root).filter(
    ({ finding: { code, path } }) => !OF_A_VALUE.has(code) || !told.has(pointer(path)),
  );
  const unknown = pointersOf(ofSchema, ['unknown-key']);
  const misshapen = pointersOf(ofSchema, ['wrong-type']);
  const own = ofValues
    .filter(({ path, finding: { code } }) => {
      const inside = (pointers: ReadonlySet<string>, from: number) =>
        pointers.size > 0 &&
        path.some(
          (_, index) => index >= from && pointers.has(pointer(path.slice(0, path.length - index))),
        );
      return !inside(misshapen, 1) && !(code === 'empty-value' && inside(unknown, 0));
    })
    .map(({ node, path, finding }) => ({
      file: node.file,
      at: node.at,
      finding: { ...finding, path },
    }));
  const said = new Set([...told, ...pointersOf(ofSchema, ['bad-value', 'wrong-type'])]);
  const ofRules = checkRules(root).filter(({ finding }) => !said.has(pointer(finding.path)));
  return [...own, ...ofSchema, ...ofRules].map(({ file, at, finding }) =>
    diagnostic(file, at, finding),
  );
}

const OF_A_VALUE: ReadonlySet<string> = new Set(['bad-value', 'wrong-type']);

function pointersOf(findings: readonly PlacedFinding[], codes: readonly string[]): Set<string> {
  return new Set(
    findings
      .filter(({ finding }) => codes.includes(finding.code))
      .map(({ finding }) => pointer(finding.path)),
  );
}
