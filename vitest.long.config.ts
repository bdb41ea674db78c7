import { defineConfig } from 'vitest/config'

/** `npm run test:long`: outages, failovers, floods, the chart. One file at a time, because each needs both cores. */
export default defineConfig({
  test: {
    include: ['test/chaos/**/*.test.ts', 'test/helm/**/*.test.ts', 'test/long/**/*.test.ts'],
    globalSetup: [
      'test/support/services/setup.ts',
      'test/support/database-template.ts',
      'test/support/console-pages.ts',
    ],
    setupFiles: process.env['POSTERN_GOLDEN'] ? ['test/support/golden/setup.ts'] : [],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    fileParallelism: false,
    // As in vitest.config.ts: threads that run TypeScript make WebAssembly code too.
    execArgv: ['--no-wasm-code-gc'],
    // These race real processes on shared cores. CI reports a test that needed a second try, and fails
    // one that fails twice.
    retry: process.env['CI'] === undefined ? 0 : 1,
  },
})
