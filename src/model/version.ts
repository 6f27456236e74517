import type { Tool } from './plan.ts';

/** This version; package.json says the same, and a test keeps them in step. */
export const VERSION = '0.1.0';

export const TOOL: Tool = { name: 'setpoint', version: VERSION };
