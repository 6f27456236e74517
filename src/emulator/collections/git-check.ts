/** The products whose tokens can be confirmed. */
export const gitProducts = [
  'github',
  'gitlab',
  'bitbucket',
  'bitbucket_data_center',
  'forgejo',
  'azure_devops',
] as const;

export type GitProduct = (typeof gitProducts)[number];

export function isGitProduct(value: unknown): value is GitProduct {
  return gitProducts.some((product) => product === value);
}

/** A stand-in for a git provider. */
export interface GitProvider {
  readonly product: GitProduct;
  /** The host, such as `git.example.com`. Default: the public host, such as github.com; Forgejo and a data center have none. */
  readonly host?: string;
  /** The text that each confirmed token contains; an empty text is in all. */
  readonly accepts: string;
}

/** The public service of each product; the others are asked at a host of their own only. */
const PUBLIC: Partial<Readonly<Record<GitProduct, string>>> = {
  github: 'github.com',
  gitlab: 'gitlab.com',
  bitbucket: 'bitbucket.org',
  azure_devops: 'dev.azure.com',
};

/** These also find their host in an address; the others put their own `https://` before it. */
const TAKE_ADDRESSES: readonly GitProduct[] = ['gitlab', 'forgejo'];

/** Returns the host of a provider; undefined if it has none. */
export function resolveGitHost({ product, host }: Pick<GitProvider, 'product' | 'host'>) {
  return host === undefined ? PUBLIC[product] : bare(host);
}

function bare(host: string): string {
  return host.replace(/\/$/, '').toLowerCase();
}

/**
 * The product that accepts a token as its own. A real server offers it to one product after the other, whatever was declared, until one
 * accepts it. Source: contract "git providers: a token of another product", "git providers: hosts as they come".
 */
export function confirmProduct(
  order: readonly GitProduct[],
  providers: readonly GitProvider[],
  token: string,
  host: string | null,
): GitProduct | undefined {
  return order.find((product) => {
    const asked = resolveAskedHost(product, host);
    return providers.some(
      (one) =>
        one.product === product && resolveGitHost(one) === asked && token.includes(one.accepts),
    );
  });
}

/** Azure DevOps is asked at its public service, whatever the host is. */
function resolveAskedHost(product: GitProduct, host: string | null): string | undefined {
  if (host === null || host === '' || product === 'azure_devops') return PUBLIC[product];
  const text = TAKE_ADDRESSES.includes(product) ? host.replace(/^https?:\/\//, '') : host;
  return bare(text);
}
