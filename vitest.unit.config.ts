import { defineConfig } from 'vitest/config';
import all from './vitest.config.ts';

/** The tests that need no build: `npm run test:unit`, and `npm run test:related -- FILE` those of them that a file of src reaches. */
export default defineConfig({ test: { ...all.test, include: ['test/unit/**/*.test.ts'] } });
