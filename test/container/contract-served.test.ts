import { afterAll } from 'vitest';
import { KEY, serve, urlOf } from './serve.ts';

const service = await serve();
afterAll(() => service.stop());

process.env['SETPOINT_CONTRACT_URL'] = urlOf(service);
process.env['SETPOINT_CONTRACT_KEY'] = KEY;
await import('../contract/contract.test.ts');
