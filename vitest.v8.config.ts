import { defineConfig } from 'vitest/config'

/**
 * `npm run test:v8`: whether V8 still behaves as decisions 13 and 14 measured it. Run it when Node is
 * upgraded. A failure means that a tuning has lost its effect or its reason, not that Postern is broken.
 */
export default defineConfig({
  test: {
    include: ['test/v8/**/*.test.ts'],
    testTimeout: 300_000,
  },
})
