// What the command also uses of undici if there is a proxy. Its index gives every dispatcher the method that opens a tunnel.
import connect from 'undici/lib/api/api-connect.js';
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';

Dispatcher.prototype.connect = connect;
export { default as EnvHttpProxyAgent } from 'undici/lib/dispatcher/env-http-proxy-agent.js';
export { default as Pool } from 'undici/lib/dispatcher/pool.js';
