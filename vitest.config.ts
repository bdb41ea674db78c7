import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Elsewhere: `npm run test:long` runs what takes minutes, `npm run test:v8` what is about V8.
    exclude: ['test/long/**', 'test/chaos/**', 'test/helm/**', 'test/v8/**'],
    globalSetup: [
      'test/support/services/setup.ts',
      'test/support/database-template.ts',
      'test/support/console-pages.ts',
    ],
    setupFiles: process.env['POSTERN_GOLDEN'] ? ['test/support/golden/setup.ts'] : [],
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 120_000 } },
    // Most of a test waits for sockets and processes: a third worker uses the two cores better.
    maxWorkers: 3,
    // Loading the product once for each file would take a third of the CPU. Tests close what they open.
    // A test that loads another test file belongs to test/long, where each file has modules of its own.
    isolate: false,
    // V8 sometimes aborts when it frees WebAssembly code, of which these processes make much: each embedded
    // database is some (nodejs/node#64500).
    execArgv: ['--no-wasm-code-gc'],
    // Many of these race real processes too. CI reports a test that needed a second try, and fails one
    // that fails twice; elsewhere there is no second try.
    retry: process.env['CI'] === undefined ? 0 : 1,
  },
})
