import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { historyText } from '../../../src/reconciler/render/history-text.ts';
import { history } from '../../../src/controller/watch/data-folder.ts';
import { Journal } from '../../../src/controller/watch/journal/journal.ts';
import { itEach } from '../../fixture/long.ts';

itEach([1, 3, 12], (limit) => limit === 3)(
  'a history of %i shows as many, whatever began or was told in between',
  async (limit) => {
    const data = mkdtempSync(join(tmpdir(), 'setpoint-history-'));
    onTestFinished(() => rmSync(data, { recursive: true, force: true }));
    const journal = new Journal(data, () => Date.UTC(2026, 2, 1));
    for (let index = 0; index < 12; index += 1) {
      const named = { environment: 'a' } as const;
      await journal.append({ kind: 'suspended', ...named, reason: `reason ${index}`, until: null });
      for (let told = 0; told < index; told += 1) {
        const notice = { kind: 'notice', ...named, event: 'opened', digest: `d${index}` } as const;
        await journal.append({ ...notice, receiver: `r${told}`, result: 'begun' });
        await journal.append({ ...notice, receiver: `r${told}`, result: 'sent' });
      }
    }
    const found = await history({ data, environments: null, path: null, limit });
    const text = historyText(found, { color: false, width: null, verbose: false }, limit);
    expect(text.split('\n\n')).toHaveLength(limit);
    expect(text.split('\n\n')[0]?.match(/r\d+/g)).toHaveLength(11);
  },
);
