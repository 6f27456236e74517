import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { filePlace, fingerprintStore } from '../../../src/reconciler/host/fingerprint-file.ts';
import { Secret } from '../../../src/reconciler/model/secret.ts';
import { propertyRuns } from '../../fixture/property-runs.ts';

const ADDRESS = 'https://agents.example.com/tenant-address';
const PATH = ['llm_api_key'];
let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'setpoint-fingerprints-'));
  file = join(folder, '.setpoint/fingerprints.json');
});
afterEach(() => rmSync(folder, { recursive: true }));

const opened = (address = ADDRESS, key = 'state-key') =>
  fingerprintStore(filePlace(file), key, { origin: 'https://agents.example.com', address });
const remember = async (value: string | null, address = ADDRESS, key = 'state-key', path = PATH) =>
  (await opened(address, key)).remember(
    [{ path, value: value === null ? null : new Secret(value) }],
    0,
  );

it('never holds eight bytes of a secret, in any encoding', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ minLength: 8, maxLength: 40 }), async (secret) => {
      await remember(secret);
      const text = readFileSync(file, 'utf8');
      const bytes = Buffer.from(secret);
      for (const form of [
        secret,
        ...(['base64', 'base64url', 'hex', 'latin1'] as const).map((encoding) =>
          bytes.toString(encoding),
        ),
      ])
        for (let at = 0; at + 8 <= form.length; at += 1)
          expect(
            KNOWN.includes(form.slice(at, at + 8)) || !text.includes(form.slice(at, at + 8)),
          ).toBe(true);
    }),
    { numRuns: propertyRuns(30) },
  );
});

/** What every such file holds, so that a secret made of it proves nothing. */
const KNOWN = `written_by setpoint format_version key_id entries origin address path llm_api_key hmac written_at https://agents.example.com 1970-01-01T00:00:00.000Z                `;
