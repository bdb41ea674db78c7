import { rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readAudit } from '../../src/stores/audit/read-audit.ts'
import { openDatabase } from '../../src/stores/database/open-database.ts'
import { mountKeys, newKey } from '../support/keys.ts'
import { dev } from '../support/log-in.ts'
import { startPostern } from '../support/start-postern.ts'
import { until } from '../support/until.ts'

/** What the audit log of a running gateway says about a subject, oldest first. */
async function auditOf({ dataDirectory }: { readonly dataDirectory: string }, subject: string) {
  const limits = { poolSize: 1, connectTimeoutMs: 5000, statementTimeoutMs: 10_000 }
  const database = await openDatabase({ directory: dataDirectory, ...limits })
  onTestFinished(database.close)
  return async () => (await readAudit(database, { subject, limit: 100 })).toReversed()
}

const gateway = { kind: 'gateway', name: 'postern', origin: hostname() }

test('a gateway records the keys that it starts with and every change of them', async () => {
  const first = { 'a.pem': newKey('ES256').privatePem, signer: 'a' }
  const { directory, swap } = await mountKeys(first)
  const postern = await startPostern({
    config: { ...dev, jwt: { secret: undefined, keyDirectory: directory } },
  })
  const audit = await auditOf(postern, directory)
  await until(async () => (await audit()).length === 1)

  await swap({ ...first, 'b.pem': newKey('ES256').privatePem })
  await until(async () => (await audit()).length === 2)

  expect(await audit()).toMatchObject([
    { actor: gateway, action: 'keys.load', before: null, after: { signer: 'a', kids: ['a'] } },
    {
      ...{ actor: gateway, action: 'keys.load', before: { signer: 'a', kids: ['a'] } },
      after: { signer: 'a', kids: ['a', 'b'] },
    },
  ])
  expect(JSON.stringify(await audit())).not.toContain('PRIVATE')
})

test('a gateway records the policy files that it starts with and every change of them', async () => {
  const postern = await startPostern({ rules: ['clerk, /a, GET'] })
  const { policyDirectory } = postern
  const audit = await auditOf(postern, policyDirectory)
  await until(async () => (await audit()).length === 1)

  await writeFile(join(policyDirectory, 'policy.csv'), 'p, clerk, /b, GET\n')
  await until(async () => (await audit()).length === 2)
  await writeFile(join(policyDirectory, 'policy.csv'), 'this is not a policy\n')
  await until(() => postern.logText().includes('policy update rejected'))
  await rm(join(policyDirectory, 'policy.csv'))
  await writeFile(join(policyDirectory, 'policy.csv'), 'p, clerk, /c, GET\n')
  await until(async () => (await audit()).length === 3)

  const [first, second, third] = await audit()
  expect(first).toMatchObject({
    ...{ actor: gateway, action: 'policy.load', before: null },
    after: { revision: postern.revision },
  })
  expect(second).toMatchObject({ before: first?.after, after: { revision: expect.any(String) } })
  expect(third).toMatchObject({ before: second?.after })
})
