import type { Tool } from './plan.ts';

/** This version; the same as in package.json; a test compares them. */
export const VERSION = '0.1.0';

export const TOOL: Tool = { name: 'setpoint', version: VERSION };

/** The versions of Node that setpoint runs on; the same as in package.json; a test compares them. */
export const NODE_RANGE = '^20.19.0 || >=22.12.0';

/** Reports whether a version such as 20.19.1 is in the range. */
export function isInNodeRange(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major === 20) return minor >= 19;
  return major > 22 || (major === 22 && minor >= 12);
}
