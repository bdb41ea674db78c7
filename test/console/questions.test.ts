import { expect, test } from 'vitest'
import { calls, pathOf } from '../../src/operations/offered/offered.ts'
import { startConsole } from '../support/start-console.ts'

/** What questions need beside their path. */
const queries: Readonly<Record<string, string>> = {
  'policy explain': '?role=editor&method=GET&path=/api/v1/public/a',
  'policy who': '?method=GET&path=/api/v1/public/a',
  'policy can': '?role=editor',
  'policy simulate': '?user=editor&add-role=viewer',
  'user show': '?name=editor',
  'role show': '?key=editor',
}

test('every question of the management API has an answer, or says in JSON why it has none', async () => {
  const console = await startConsole({
    isWhole: true,
    config: { policy: { directory: `${process.cwd()}/policies` } },
  })
  const cookie = await console.logIn()
  const answered: string[] = []

  for (const call of calls.filter(({ kind }) => kind === 'question')) {
    const command = call.operation.name
    const path = `${pathOf(call)}${queries[command] ?? ''}`
    const answer = await console.call(`GET ${path}`, { cookie })
    expect({ command, isBug: answer.status === 500 }).toEqual({ command, isBug: false })
    expect({ command, type: answer.header('content-type') }).toMatchObject({
      type: expect.stringMatching(/^application\/(problem\+)?json/),
    })
    if (answer.status === 200) answered.push(command)
    else expect(answer.json()).toHaveProperty('errors')
  }

  expect(answered).toEqual(
    expect.arrayContaining([
      'version',
      'config print',
      'user list',
      'user show',
      'role list',
      'role show',
    ]),
  )
})
