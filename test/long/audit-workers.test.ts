import { hostname } from 'node:os'
import { expect, onTestFinished, test } from 'vitest'
import { readAudit } from '../../src/stores/audit/read-audit.ts'
import { openDatabase } from '../../src/stores/database/open-database.ts'
import { openPolicyStore } from '../../src/stores/policies/policy-store.ts'
import { limits } from '../stores/test-databases.ts'
import { type CrewProcess, startCrew } from '../support/crew-process.ts'
import { mountKeys, newKey } from '../support/keys.ts'
import { documentOf } from '../support/policy-files.ts'
import { until } from '../support/until.ts'
import { useWorkerStores } from '../support/worker-stores.ts'

const stores = useWorkerStores()

async function start(config: Parameters<typeof startCrew>[1] = {}): Promise<CrewProcess> {
  const crew = await startCrew(stores(), config)
  onTestFinished(crew.clear)
  return crew
}

/** What the audit log says about an action, oldest first. */
async function openAudit() {
  const database = await openDatabase({ url: stores().databaseUrl, directory: '', ...limits })
  onTestFinished(database.close)
  return async (action: string) => (await readAudit(database, { action, limit: 100 })).toReversed()
}

test('the workers of a gateway record a change of the keys once', async () => {
  const files = { 'a.pem': newKey('ES256').privatePem, signer: 'a' }
  const { directory: keyDirectory, swap } = await mountKeys(files)
  const audit = await openAudit()
  const config = { jwt: { secret: undefined, keyDirectory } }
  const crew = await start({ config })
  const loaded = () => crew.log.filter(({ msg }) => msg === 'keys loaded').length
  await until(async () => (await audit('keys.load')).length === 1 && loaded() === 2)

  await swap({ ...files, 'b.pem': newKey('ES256').privatePem })
  await until(async () => (await audit('keys.load')).length === 2 && loaded() === 4)
  await crew.clear()
  // Nothing changed meanwhile, so this start has nothing to say.
  const again = await start({ config })
  await again.clear()

  expect(await audit('keys.load')).toMatchObject([
    { actor: { kind: 'gateway', origin: hostname() }, before: null, after: { kids: ['a'] } },
    { before: { kids: ['a'] }, after: { kids: ['a', 'b'] } },
  ])
})

test('two gateways of two workers record a published policy once', async () => {
  const { redisUrl: url } = stores()
  const prefix = '{audit}:'
  const config = { redis: { url, prefix }, policy: { source: 'redis', pollSeconds: 1 } }
  const store = await openPolicyStore({
    ...{ url, prefix, connectTimeoutMs: 5000, commandTimeoutMs: 5000 },
  })
  onTestFinished(store.close)
  const [first, second] = [documentOf(['clerk, /a, GET']), documentOf(['clerk, /b, GET'])]
  await store.publish(first, undefined, { kind: 'push' })
  const audit = await openAudit()
  const crews = await Promise.all([start({ config }), start({ config })])
  await until(async () => (await audit('policy.push')).length === 1)

  await store.publish(second, first.revision, { kind: 'push', origin: 'laptop' })
  await until(async () => (await audit('policy.push')).length === 2)
  await Promise.all(crews.map((crew) => crew.clear()))

  expect(await audit('policy.push')).toMatchObject([
    { action: 'policy.push', subject: first.revision, before: null },
    {
      actor: { kind: 'operator', name: 'ada', origin: 'laptop' },
      ...{ action: 'policy.push', subject: second.revision },
      before: { revision: first.revision },
      after: { revision: second.revision, author: 'unverified' },
    },
  ])
})
