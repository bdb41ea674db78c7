import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { largeFiles, largeRoutes } from '../support/console-large.ts'
import { startConsole } from '../support/start-console.ts'

test('the console answers others while it computes a matrix of 200 roles and 2,000 operations', async () => {
  const console = await startConsole({ config: largeRoutes, isWhole: true })
  for (const [name, text] of Object.entries(largeFiles)) {
    const file = join(dirname(console.configFile), name)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
  }
  const cookie = await console.logIn()
  const finished: string[] = []

  const matrix = console.call('GET policy/matrix', { cookie }).finally(() => {
    finished.push('matrix')
  })
  // More than one: the first could get in before the matrix begins.
  for (let turn = 0; turn < 5; turn++) {
    const session = await console.call('GET session', { cookie })
    expect([session.status, finished]).toEqual([200, []])
  }

  const { status, body } = await matrix
  expect(status).toBe(200)
  expect(JSON.parse(body).roles.length).toBeGreaterThanOrEqual(200)
})
