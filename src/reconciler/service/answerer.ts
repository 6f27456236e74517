import { isJsonReply, readHeader, type Reply } from './exchange.ts';

/**
 * The sender of an answer that the service itself would not give: a proxy, gateway or login in front of it. `name` is its product, if its
 * headers show it; only names from this file are shown, because a header may contain any text. `form` is what it sent.
 */
export interface Answerer {
  readonly name: string | null;
  readonly form: string;
}

/** Returns the proxy that gave an answer; null if the service may have given it. The service answers JSON. */
export function findAnswerer(reply: Reply): Answerer | null {
  const name = nameProduct(reply);
  const header = (key: string): string => readHeader(reply.headers, key) ?? '';
  if (isHtml(reply)) return { name, form: 'an HTML page' };
  const asks = /^\s*(basic|digest|negotiate|ntlm)\b/i.exec(header('www-authenticate'))?.[1];
  if (asks !== undefined && !isJsonReply(reply))
    return { name, form: `a login of its own (${asks})` };
  const own = OWN_ANSWERS.find(([key, pattern]) => pattern.test(header(key)));
  if (own !== undefined) return { name: own[2], form: 'an answer of its own' };
  // Kong measures the service's time only if it has asked it.
  if (header('x-kong-response-latency') !== '' && header('x-kong-upstream-latency') === '')
    return { name: 'Kong', form: 'an answer of its own' };
  const isText = /^text\/(plain|xml)|^application\/xml/i.test(header('content-type'));
  return isText && name !== null ? { name, form: 'a text instead of JSON' } : null;
}

/** Words for a proxy in front of the service: with its name if it is known. */
export function formatAnswerer({ name }: Answerer): string {
  return name === null
    ? 'a proxy in front of the service'
    : `a proxy in front of the service (${name})`;
}

function isHtml(reply: Reply): boolean {
  const type = (readHeader(reply.headers, 'content-type') ?? '').split(';')[0]?.trim();
  return /^(text\/html|application\/xhtml\+xml)$/i.test(type ?? '');
}

/** Headers that only a gateway's own answers have. */
const OWN_ANSWERS: readonly (readonly [header: string, pattern: RegExp, name: string])[] = [
  ['x-goog-iap-generated-response', /./, "Google's Identity-Aware Proxy"],
  ['x-amzn-errortype', /./, 'Amazon API Gateway'],
  ['cf-mitigated', /./, 'Cloudflare'],
  ['x-azure-ref-originshield', /./, 'Azure Front Door'],
];

/** The names of products in the header `server`, or in one of their own. */
const PRODUCTS: readonly (readonly [header: string, pattern: RegExp, name: string])[] = [
  ['cf-ray', /./, 'Cloudflare'],
  ['server', /^cloudflare/i, 'Cloudflare'],
  ['server', /^awselb\//i, 'an AWS load balancer'],
  ['server', /^cloudfront/i, 'CloudFront'],
  ['server', /^(istio-)?envoy/i, 'Envoy'],
  ['server', /^kong/i, 'Kong'],
  ['server', /^openresty/i, 'OpenResty'],
  ['server', /^nginx/i, 'nginx'],
  ['server', /^apache/i, 'Apache'],
  ['server', /^caddy/i, 'Caddy'],
  ['server', /^varnish/i, 'Varnish'],
  ['server', /^squid/i, 'Squid'],
  ['server', /^akamaighost/i, 'Akamai'],
  ['server', /^google frontend|^gws|^gse/i, 'a Google load balancer'],
  ['server', /^microsoft-azure-application-gateway/i, 'Azure Application Gateway'],
  ['x-azure-ref', /./, 'Azure Front Door'],
  ['gap-auth', /./, 'oauth2-proxy'],
];

function nameProduct({ headers }: Reply): string | null {
  const found = PRODUCTS.find(([key, pattern]) => pattern.test(readHeader(headers, key) ?? ''));
  return found?.[2] ?? null;
}

/** The logins of browsers that a redirect leads to, by its host or path. */
const LOGINS: readonly RegExp[] = [
  /^[^/]*\.cloudflareaccess\.com\//,
  /\/cdn-cgi\/access\/login/,
  /^(accounts\.google\.com|login\.microsoftonline\.com|login\.live\.com|github\.com\/login)\b/,
  /^[^/]*\.(okta|auth0|onelogin|amazoncognito)\.com\//,
  /\/oauth2\/(start|sign_in|authorize|auth)\b/,
  /\/oauth\/authorize\b/,
  /\/protocol\/openid-connect\/auth\b/,
  /\/(login|log-in|signin|sign-in|sso|saml2?)(\/|$)/,
];

/** Reports whether a redirect leads to a login of browsers. */
export function isLogin(location: URL): boolean {
  const place = `${location.host}${location.pathname}`.toLowerCase();
  return LOGINS.some((login) => login.test(place));
}

/** The age of an answer that a cache gave, in seconds; 0 if its age is not known, null if no cache gave it. */
export function cachedFor({ headers }: Pick<Reply, 'headers'>): number | null {
  const age = Number(readHeader(headers, 'age') ?? '');
  if (Number.isFinite(age) && age > 0) return Math.floor(age);
  const states = ['x-cache', 'cf-cache-status', 'x-cache-status', 'x-proxy-cache', 'cache-status'];
  const isHit = states.some((name) => /\b(hit|stale)\b/i.test(readHeader(headers, name) ?? ''));
  return isHit ? 0 : null;
}
