export { startEmulator, type Emulator, type EmulatorOptions } from './start.ts';
export type { EmulatorDialect } from './options.ts';
