import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEntryIdentity } from '../../../src/reconciler/model/mcp.ts';

describe('an address is known without its userinfo, query and fragment', () => {
  it('so that the file and the service name an entry alike, whatever their credentials are', () => {
    const word = fc.stringMatching(/^[a-z0-9/:?#\\.]{0,8}$/);
    fc.assert(
      fc.property(fc.constantFrom('https://', 'ws://', '//', 'x://'), word, (scheme, userinfo) => {
        const of = (url: string) => createEntryIdentity('sse_servers', { url });
        const plain = of(`${scheme}h.example/sse`);
        expect(of(plain.shown).sameAs(plain)).toBe(true);
        expect(of(`${scheme}u:p${userinfo}x@h.example/sse`).shown).not.toContain('@');
      }),
    );
  });
});
