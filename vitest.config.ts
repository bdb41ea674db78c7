import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // These take minutes; `npm run test:long` runs them.
    exclude: ['test/long/**', 'test/chaos/**', 'test/helm/**'],
    globalSetup: ['test/support/services/setup.ts', 'test/support/database-template.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
})
