import { createHmac, randomBytes } from 'node:crypto';

/** The session key of a sandbox by its id. Another run of the service has other keys; none of them is ever stored. */
export function sessionKeys(): (sandboxId: string) => string {
  const secret = randomBytes(32);
  return (sandboxId) => createHmac('sha256', secret).update(sandboxId).digest('base64url');
}
