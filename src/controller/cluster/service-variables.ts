import type { Variables } from '../../reconciler/model/ports.ts';

/** Returns the variables of this process that a run may read: how services are reached, and where values may be sent. */
export function serviceVariables(env: Variables): Record<string, string | undefined> {
  const names = [
    'HTTPS_PROXY',
    'https_proxy',
    'ALL_PROXY',
    'all_proxy',
    'NO_PROXY',
    'no_proxy',
    'NODE_TLS_REJECT_UNAUTHORIZED',
    'NODE_EXTRA_CA_CERTS',
    'SETPOINT_ALLOWED_ORIGINS',
    'SETPOINT_STATE_KEY',
  ];
  return Object.fromEntries(
    names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])),
  );
}
