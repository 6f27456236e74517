/** undici's way through HTTPS_PROXY, loaded only where there is one. */
export { EnvHttpProxyAgent } from 'undici';
