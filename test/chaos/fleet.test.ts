import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

// The bench itself works. What fails without the pause before lists are compared is in test/stores/revocation-herd.test.ts.
test('npm run bench:fleet: gateways get what is new, and all come back after a restart of Redis', async () => {
  const options = '--gateways 100 --processes 2 --rounds 2 --seconds 2 --outage 1'.split(' ')
  const { stdout } = await promisify(execFile)(process.execPath, [
    'bench/fleet/main.ts',
    ...options,
  ])
  const result = JSON.parse(stdout)

  expect(result).toMatchObject({ gateways: 100, reporting: 100 })
  expect(result.policyMs).toHaveLength(2)
  expect(result.revocationMs).toHaveLength(2)
  // Four connections for each gateway, and a few of the bench.
  expect(result.idle.connections).toBeGreaterThanOrEqual(400)
  expect(result.idle.connections).toBeLessThan(420)
  expect(result.restart.last).toBeGreaterThan(0)
})
