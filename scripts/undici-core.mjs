// What the command uses of undici, and nothing else of it: its index loads a cache, a mock and a browser's whole fetch, which
// take longer to start than a request takes. The library imports undici itself.
import Agent from 'undici/lib/dispatcher/agent.js';
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
import EnvHttpProxyAgent from 'undici/lib/dispatcher/env-http-proxy-agent.js';
import request from 'undici/lib/api/api-request.js';

Object.assign(Dispatcher.prototype, { request });

export { Agent, EnvHttpProxyAgent };
