import { describe, expect, it } from 'vitest';
import { createWatchedDocument, createWatchedReport } from '../../../src/controller/page/api.ts';
import { worstFirst } from '../../../src/controller/page/listing.ts';
import { statusText } from '../../../src/reconciler/render/status-text.ts';
import { environment } from '../../fixture/documents.ts';
import { fleet, longWatched } from '../../fixture/watched-fleet.ts';
import { ago, WATCHED_AT } from '../../fixture/watching.ts';

const STYLE = { color: false, verbose: false, width: 80 };

/** Twelve behind one gateway, one that is suspended, and the others in sync. */
function lines(isNarrowed = false, more = {}): string[] {
  const error = { code: 'unreachable', message: 'No route.', hint: '' };
  const down = fleet(24).map((state, index) =>
    index >= 12
      ? longWatched({ name: state.name })
      : {
          ...state,
          since: ago(60 + index),
          status: 'error' as const,
          found: 'error' as const,
          plan: environment({ status: 'error', error, origin: state.origin }),
        },
  );
  const suspended = longWatched({
    name: 'staging',
    status: 'suspended',
    found: 'in-sync',
    suspended: { at: ago(5), reason: 'Load test', until: null, by: 'Ada' },
  });
  const reports = worstFirst([...down, suspended]).map((one) =>
    createWatchedReport(one, [], WATCHED_AT),
  );
  const document = createWatchedDocument(null, reports, WATCHED_AT);
  return statusText(document, isNarrowed, { ...STYLE, ...more }).split('\n');
}

describe('the list of a controller in a terminal', () => {
  it('has those that fail for one cause as one line, and who has suspended what', () => {
    const [head, group, staging, , counts] = lines();
    expect(head).toMatch(/^ENVIRONMENT/);
    expect(group).toMatch(
      /^12 environments +✗ failed +1h +No route, behind agents\.example\.com \(12 serv…$/,
    );
    expect(group).toHaveLength(80);
    expect(staging).toMatch(/^staging +‖ suspended +5m +\(by Ada: Load test\)$/);
    expect(counts).toBe('25 environments: 12 failed, 1 suspended, 12 in sync. -v lists all.');
  });

  it.each([
    ['-v', false, { verbose: true }, 25],
    ['a filter', true, {}, 25],
  ])('has each of them with %s', (_, isNarrowed, style, count) => {
    expect(lines(isNarrowed, style).filter((line) => /^(team|staging)/.test(line))).toHaveLength(
      count,
    );
  });
});
