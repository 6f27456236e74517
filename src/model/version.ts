import type { Tool } from './plan.ts';

/** This version; the same as in package.json; a test compares them. */
export const VERSION = '0.1.0';

export const TOOL: Tool = { name: 'setpoint', version: VERSION };
