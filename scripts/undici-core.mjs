// What the command uses of undici, and nothing else of it: its index loads a cache, a mock and a browser's whole fetch, which
// take longer to start than a request takes. The library imports undici itself.
export { default as Agent } from 'undici/lib/dispatcher/agent.js';
export { default as EnvHttpProxyAgent } from 'undici/lib/dispatcher/env-http-proxy-agent.js';
