const WORDS: ReadonlyMap<string, string> = new Map([
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'is self-signed'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'comes from an authority that is not trusted here'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'comes from an authority that is not trusted here'],
  ['UNABLE_TO_GET_ISSUER_CERT', 'comes from an authority that is not trusted here'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'comes from an authority that is not trusted here'],
  ['CERT_UNTRUSTED', 'comes from an authority that is not trusted here'],
  ['CERT_HAS_EXPIRED', 'has expired'],
  ['CERT_NOT_YET_VALID', 'is not valid yet'],
  ['CERT_REVOKED', 'was revoked'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'is for another name'],
  ['HOSTNAME_MISMATCH', 'is for another name'],
]);

const NO_TLS_THERE = new Set(['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG']);

export function isTlsCode(code: string): boolean {
  return (
    WORDS.has(code) ||
    code === 'EPROTO' ||
    code === 'UND_ERR_PRX_TLS' ||
    /^(CERT|CRL)_|^ERR_(SSL|TLS|OSSL)_|^UNABLE_TO_(GET|DECODE|DECRYPT)_|_CERT$|_CRL$|^INVALID_(CA|PURPOSE)$/.test(
      code,
    )
  );
}

/** What is wrong with a connection over TLS, in words. */
export function tlsWords(code: string): string {
  const words = WORDS.get(code);
  if (words !== undefined) return `the certificate of the service ${words} (${code})`;
  if (NO_TLS_THERE.has(code)) return `what answers there does not speak TLS (${code})`;
  return `no trusted connection could be made (${code})`;
}

/** What to do about it, where that is not the same as for any certificate. */
export function tlsHint(code: string): string | undefined {
  switch (code) {
    case 'CERT_HAS_EXPIRED':
    case 'CERT_NOT_YET_VALID':
      return 'Check the clock of this machine first; if it is right, the service needs another certificate.';
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
    case 'HOSTNAME_MISMATCH':
      return 'Set server.url to a name that the certificate of the service holds.';
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
      return 'Check the port and the scheme of server.url.';
    default:
      return undefined;
  }
}
