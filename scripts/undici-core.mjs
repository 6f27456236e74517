// What the command uses of undici on every run. Its index loads a cache, a mock and a browser's whole fetch, which take longer
// to start than a request takes. The library imports undici itself.
export { default as Client } from 'undici/lib/dispatcher/client.js';
export { default as Pool } from 'undici/lib/dispatcher/pool.js';
export { default as buildConnector } from 'undici/lib/core/connect.js';
