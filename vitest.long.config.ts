import { defineConfig } from 'vitest/config'

/** `npm run test:long`: outages, failovers, floods, browsers, every database, what pages say, the chart. */
export default defineConfig({
  test: {
    globalSetup: [
      'test/support/services/setup.ts',
      'test/support/database-template.ts',
      'test/support/console-pages.ts',
    ],
    setupFiles: process.env['POSTERN_GOLDEN'] ? ['test/support/golden/setup.ts'] : [],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    // As in vitest.config.ts: threads that run TypeScript make WebAssembly code too.
    execArgv: ['--no-wasm-code-gc'],
    // These race real processes on shared cores. CI reports a test that needed a second try, and fails
    // one that fails twice.
    retry: process.env['CI'] === undefined ? 0 : 1,
    projects: [
      {
        extends: true,
        test: {
          name: 'long',
          include: ['test/helm/**/*.test.ts', 'test/long/**/*.test.ts'],
          // Most of each file waits for browsers, databases and processes: a third worker uses two cores better.
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'chaos',
          include: ['test/chaos/**/*.test.ts'],
          // One file at a time: each needs both cores, or compares times.
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
