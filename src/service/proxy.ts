import { EnvHttpProxyAgent, Pool } from 'undici';
import { foreignCode } from './wire-fault.ts';

/** undici's way through HTTPS_PROXY, loaded only where there is one. */
export function proxyAgent(
  options: EnvHttpProxyAgent.Options & { readonly maxHeaderSize: number },
): EnvHttpProxyAgent {
  const { maxHeaderSize } = options;
  return new EnvHttpProxyAgent({
    ...options,
    clientFactory: (origin, own) => proxyClient(origin, { ...own, maxHeaderSize }),
  });
}

/** undici connects again at once, and without end, where a tunnel is cut with its own code for that; a reset fails the request. */
function proxyClient(origin: URL, options: Pool.Options): Pool {
  const pool = new Pool(origin, options);
  const connect = pool.connect.bind(pool);
  return Object.assign(pool, {
    connect: (asked: Parameters<typeof connect>[0]) =>
      connect(asked).catch((thrown: unknown) => {
        if (foreignCode(thrown) !== 'UND_ERR_SOCKET') throw thrown;
        throw Object.assign(new Error('The proxy cut the connection.'), { code: 'ECONNRESET' });
      }),
  });
}
