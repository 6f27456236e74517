import { readFileSync } from 'node:fs';
import * as tls from 'node:tls';

/**
 * Returns the PEM text of NODE_EXTRA_CA_CERTS, for a Node that drops these authorities once others are added: one before 22.15. Empty for
 * a later one, and if the file cannot be read, of which Node warns.
 */
export function readExtraAuthorities(): string {
  const path = process.env['NODE_EXTRA_CA_CERTS'] ?? '';
  if (path === '' || 'getCACertificates' in tls) return '';
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
