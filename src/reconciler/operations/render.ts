import type { Diagnostic } from '../model/diagnostic.ts';
import { SetpointError } from '../model/error.ts';
import { formatCount } from '../model/wording.ts';
import { createDiagnostic } from '../desired/place-diagnostic.ts';
import type { PlacedFinding } from '../desired/node.ts';
import type { Target } from '../desired/target.ts';
import type { KubeObject } from '../kubernetes/crd.ts';
import { renderObjects, type RenderOptions } from '../kubernetes/objects.ts';
import type { Options } from './options.ts';
import { isChosen, selectTargets } from './select.ts';

/** Settings that are valid, and that no SettingsTarget can hold as they are. */
class NotForKubernetes extends SetpointError {
  readonly diagnostics: readonly Diagnostic[];

  constructor(diagnostics: readonly Diagnostic[]) {
    const message = `The settings cannot be rendered: ${formatCount(diagnostics.length, 'problem')}.`;
    super('settings-invalid', message, { hint: 'Fix them, or choose other environments with -e.' });
    this.diagnostics = diagnostics;
  }
}

export interface RenderRequest extends Options, Omit<RenderOptions, 'all'> {}

/** Objects in the order in which they are applied, and warnings about the files. */
export interface RenderedObjects {
  readonly objects: readonly KubeObject[];
  readonly warnings: readonly Diagnostic[];
}

/**
 * The settings files as objects of Kubernetes: a SettingsTarget for each environment and a Role for the Secrets that they name. Nothing is sent,
 * and no reference is looked up. Throws a SetpointError if a file is not valid, or holds what no SettingsTarget can hold.
 */
export function render(request: RenderRequest): RenderedObjects {
  const targets = selectTargets({ ...request, server: undefined });
  return renderTargets(targets, { ...request, all: !isChosen(request) });
}

/** Renders targets that are already loaded. */
export function renderTargets(targets: readonly Target[], options: RenderOptions): RenderedObjects {
  const { objects, findings } = renderObjects(targets, options);
  const diagnostics = mergeSharedDiagnostics(findings);
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw new NotForKubernetes(errors);
  return { objects, warnings: diagnostics };
}

/** By place; what several environments share once, and what is of a whole file at its first place. */
function mergeSharedDiagnostics(findings: readonly PlacedFinding[]): readonly Diagnostic[] {
  const groups = new Map<string, Diagnostic[]>();
  for (const placed of findings) {
    const one = createDiagnostic(placed);
    const { file, line, column, message } = one;
    const at = placed.finding.isOfFile === true ? [file, message] : [file, message, line, column];
    const key = JSON.stringify(at);
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups.values()]
    .flatMap(([first, ...others]) => {
      if (first === undefined) return [];
      const places = new Set([first, ...others].map(({ line, column }) => `${line}:${column}`));
      const more = places.size === 1 ? '' : ` It is the first of ${places.size}.`;
      return [{ ...first, message: first.message + more }];
    })
    .toSorted((a, b) => a.file.localeCompare(b.file) || a.line - b.line || a.column - b.column);
}
