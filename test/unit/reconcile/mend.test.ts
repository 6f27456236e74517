import { describe, expect, it } from 'vitest';
import { NOTHING_KNOWN, planSettings } from '../../../src/reconciler/plan/plan-settings.ts';
import { mendingWrite } from '../../../src/reconciler/resources/settings/verify.ts';
import { observedOf } from '../../fixture/observed.ts';
import { declared } from '../plan/declared.ts';

type Fields = Readonly<Record<string, unknown>>;
const A = { url: 'https://a.example.com' };
const B = { url: 'https://b.example.com' };
const sse = (...entries: object[]) => ({ mcp_config: { sse_servers: entries } });

/** The corrective write after a first one that was planned before, and what the service shows now. */
function mended(settings: string, before: Fields, latest: Fields, blocks = '') {
  const desired = declared(settings, { KEY: 'key', OTHER: 'other' }, blocks);
  const plan = planSettings(desired, observedOf(before), NOTHING_KNOWN);
  return mendingWrite(desired, plan, observedOf(before), observedOf(latest));
}

const FIELDS = 'language: fr\nllm_api_key: ${env:KEY}\nsandbox_api_key: ${env:OTHER}';
const BEFORE = { language: 'en', agent: 'A', llm_api_key_set: true };

describe('the corrective write', () => {
  it('is none if nothing fell out and nothing doubled', () => {
    expect(mended(FIELDS, BEFORE, { ...BEFORE, language: 'fr' })).toBeNull();
    expect(mended(FIELDS, BEFORE, BEFORE)).toBeNull();
  });

  it('carries the lost secret, and what cannot be read back as it was sent; not what is shown', () => {
    const write = mended(FIELDS, BEFORE, { ...BEFORE, language: 'fr', llm_api_key_set: false });
    expect(Object.keys(write?.fields ?? {})).toEqual(['llm_api_key', 'sandbox_api_key']);
    const shown = Object.values(write?.fields ?? {}).map((value) =>
      (value as { reveal(): unknown }).reveal(),
    );
    expect(shown).toEqual(['key', 'other']);
    expect(write?.observed.values).toMatchObject({ language: 'fr' });
  });

  it('keeps what somebody else has written since', () => {
    const latest = { ...BEFORE, language: 'fr', agent: 'B', llm_api_key_set: false };
    const write = mended(FIELDS, BEFORE, latest);
    expect(write?.fields).not.toHaveProperty('agent');
    expect(write?.observed.values).toMatchObject({ agent: 'B' });
  });

  it('sets a field again that was approved, and no other', () => {
    const text = `${FIELDS}\nagent: A`;
    const lost = { ...BEFORE, llm_api_key_set: false };
    expect(mended(text, BEFORE, lost)?.fields).toHaveProperty('language', 'fr');
    expect(mended(text, BEFORE, { ...lost, language: 'fr', agent: 'B' })).toBeNull();
  });

  it('is none of a secret that is not declared, declared as null, or unmanaged', () => {
    const latest = { ...BEFORE, language: 'fr', llm_api_key_set: false };
    const silent = '\nsandbox_api_key: null';
    expect(mended(`language: fr${silent}`, BEFORE, latest)).toBeNull();
    expect(mended(`language: fr\nllm_api_key: null${silent}`, BEFORE, latest)).toBeNull();
    expect(mended(FIELDS, BEFORE, latest, 'unmanaged: [llm_api_key]')).toBeNull();
  });

  it('is none if it would lose more than was approved', () => {
    const before = { ...BEFORE, ...sse({ ...A, api_key: 'k' }) };
    const latest = { ...before, language: 'fr', llm_api_key_set: false };
    expect(mended(FIELDS, before, latest)).not.toBeNull();
    const masked = sse({ ...A, api_key: '**********' });
    expect(mended(FIELDS, before, { ...latest, ...masked })).toBeNull();
    expect(mended(FIELDS, { ...before, ...masked }, { ...latest, ...masked })).not.toBeNull();
  });

  it('leaves out what the server has doubled', () => {
    const text = 'language: fr\nsandbox_api_key: ${env:OTHER}';
    const before = { language: 'en', ...sse(A, B) };
    const write = mended(text, before, { language: 'fr', ...sse(A, B, B) });
    expect(write?.fields['mcp_config']).toMatchObject({ sse_servers: [A] });
    expect(write?.fields).toHaveProperty('sandbox_api_key');
  });
});
