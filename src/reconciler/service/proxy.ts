import { EnvHttpProxyAgent, Pool } from 'undici';
import { foreignCode } from './fault-error.ts';

/** undici's agent for HTTPS_PROXY, loaded only if there is one. */
export function proxyAgent(
  options: EnvHttpProxyAgent.Options & { readonly maxHeaderSize: number },
): EnvHttpProxyAgent {
  const { maxHeaderSize } = options;
  return new EnvHttpProxyAgent({
    ...options,
    clientFactory: (origin, own) => proxyClient(origin, { ...own, maxHeaderSize }),
  });
}

/** If a tunnel is cut, undici reconnects at once and without end, by the error's code; as a reset, the request fails. */
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
