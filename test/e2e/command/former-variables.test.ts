import { expect, it } from 'vitest';
import { setpoint } from '../../fixture/command-here.ts';

it.each([
  ['SETPOINT_SELECTOR', '--selector', ['apply', '--all', '--yes']],
  ['SETPOINT_ENV', '--env', ['plan']],
  ['SETPOINT_SHARD', '--shard', ['apply', '--yes']],
  ['SETPOINT_SERVER', '--server', ['get', 'settings']],
])('%s of an earlier version stops a command that has %s', async (name, flag, args) => {
  const { code, stderr } = await setpoint(args, { cwd: '.', env: { [name]: 'x' } });
  expect(code).toBe(3);
  expect(stderr).toContain(`${name} is set, and setpoint reads it no more.`);
  expect(stderr).toContain(`give ${flag}`);
});

it('stops no command without such a flag', async () => {
  const { code } = await setpoint(['version'], { cwd: '.', env: { SETPOINT_SELECTOR: 'x' } });
  expect(code).toBe(0);
});
