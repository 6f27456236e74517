// What the command uses of undici besides, where there is a proxy.
export { default as EnvHttpProxyAgent } from 'undici/lib/dispatcher/env-http-proxy-agent.js';
