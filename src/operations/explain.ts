import { declaredAt } from '../desired/declared-at.ts';
import { fieldPath, type FieldPath } from '../desired/field-path.ts';
import { meaningOf } from '../desired/meaning.ts';
import { originOf as placeOf } from '../desired/origin.ts';
import { referenceReports } from '../desired/reference-reports.ts';
import { resolveServer } from '../desired/resolve-server.ts';
import { unmanagedOf } from '../desired/resolve.ts';
import { shownValue } from '../desired/shown-value.ts';
import type { Target } from '../desired/target.ts';
import { SetpointError } from '../model/error.ts';
import type { EnvironmentExplained, ExplainDocument } from '../model/explain.ts';
import { isUnmanaged } from '../model/path.ts';
import { FORMAT_VERSION } from '../model/plan.ts';
import { TOOL } from '../model/version.ts';
import { sideBySide } from '../reconcile/side-by-side.ts';
import { lookAt, originOf } from './look-at.ts';
import { SIDE_BY_SIDE, type Options } from './options.ts';
import { plannedAt } from './planned-at.ts';
import { prepareTargets } from './prepare.ts';
import { redacting, sourceFor, type Running } from './redacting.ts';
import { selectTargets } from './select.ts';

export interface ExplainRequest extends Options {
  /** A field, or what stands in one: `llm_model`, `mcp_config.sse_servers[https://x/sse].api_key`; also `server.url` and the like. */
  readonly path: string;
  /** Look at no service: say nothing of what an apply would do. */
  readonly offline?: boolean | undefined;
}

/**
 * What a place of the file means, what each target declares there and where, and what an apply would do about it. Reads only:
 * one look at the settings, or at the sandboxes where it is about them. Throws a SetpointError where there is no such place.
 */
export function explain(request: ExplainRequest): Promise<ExplainDocument> {
  return redacting(request, explained);
}

async function explained(request: Running<ExplainRequest>): Promise<ExplainDocument> {
  const place = fieldPath(request.path);
  if ('hint' in place)
    throw new SetpointError('usage', 'There is nothing at that path.', { hint: place.hint });
  const targets = selectTargets(request);
  const looks = request.offline !== true && place.part !== 'file';
  return {
    format_version: FORMAT_VERSION,
    kind: 'explanation',
    tool: TOOL,
    path: place.path,
    part: place.part,
    meaning: meaningOf(place),
    environments: looks
      ? await looked(targets, place, request)
      : targets.map((target) => declaredBy(target, place, request)),
  };
}

function looked(
  targets: readonly Target[],
  place: FieldPath,
  request: Running<ExplainRequest>,
): Promise<EnvironmentExplained[]> {
  const prepared = prepareTargets(targets, request);
  return sideBySide(prepared, request.parallel ?? SIDE_BY_SIDE, (one) => {
    const declared = { ...declaredBy(one.target, place, request), origin: originOf(one) };
    return lookAt<EnvironmentExplained>(one, request, {
      open: async (open) => ({
        ...declared,
        status: 'observed',
        ...(await plannedAt(place, one, open, request)),
      }),
      failed: (error) => ({ ...declared, status: 'error', error }),
    });
  });
}

/** What can be said without a look. */
function declaredBy(
  target: Target,
  place: FieldPath,
  request: Running<ExplainRequest>,
): EnvironmentExplained {
  const source = sourceFor([target.name], request);
  const { path, part, filePath } = place;
  const node = declaredAt(target, filePath);
  const own = resolveServer(target, source);
  return {
    name: target.name,
    origin: 'server' in own ? own.server.origin : null,
    dialect: null,
    status: 'not-observed',
    declared:
      node === undefined ? null : { value: shownValue(node, filePath), ...placeOf(target, node) },
    unmanaged: part === 'settings' && isUnmanaged(unmanagedOf(target), path),
    references: referenceReports(node, filePath, source),
    changes: [],
    unknown: [],
    warnings: [],
    error: null,
  };
}
