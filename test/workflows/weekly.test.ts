import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readText } from './read-text.ts';
import type { Job } from './workflow-file.ts';

const { jobs, on } = parse(readText('.github/workflows/ci.yml')) as {
  readonly on: Readonly<Record<string, unknown>>;
  readonly jobs: Readonly<Record<string, Job & { readonly if?: string }>>;
};
const scripts = (JSON.parse(readText('package.json')) as { scripts: Record<string, string> })
  .scripts;

describe('once a week, ci.yml', () => {
  it.each([
    ['weekly-properties', 'npx vitest run test/property'],
    ['weekly-mutants', 'npm run mutate'],
    ['weekly-real-servers', 'npm run test:real'],
  ])('runs %s', (name, command) => {
    expect(on).toHaveProperty('schedule');
    expect(jobs[name]?.if).toBe("github.event_name == 'schedule'");
    expect(jobs[name]?.steps?.map(({ run }) => run)).toContain(command);
    const [, script] = /^npm run (\S+)$/.exec(command) ?? [];
    if (script !== undefined) expect(scripts).toHaveProperty(script);
  });

  it('fails if there is no Python for the real servers', () => {
    const step = jobs['weekly-real-servers']?.steps?.find(({ run }) => run === 'npm run test:real');
    expect(step?.env).toEqual({ SETPOINT_REQUIRE_PYTHON: '1' });
  });
});
