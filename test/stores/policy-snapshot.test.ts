import { mkdtemp, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createPolicySnapshot } from '../../src/stores/policies/policy-snapshot.ts'
import type { LargeOffer, Offer } from '../../src/stores/policies/policy-source.ts'
import { formatSnapshot } from '../../src/stores/policies/snapshot-text.ts'
import { documentOf } from '../support/policy-files.ts'
import { startPublished } from '../support/published-policies.ts'
import { until } from '../support/until.ts'

const offerOf = (rule: string, sequence: number): Offer => ({ ...documentOf([rule]), sequence })
const first = offerOf('clerk, /first, GET', 1)
const second = offerOf('clerk, /second, GET', 2)
const longAgo = new Date('2020-01-01T00:00:00Z')

/** One whose text never comes, so that it cannot be written. */
function unwritable({ checksum, revision, sequence }: Offer): LargeOffer {
  const snapshot = Promise.reject(new Error('no text for a test'))
  snapshot.catch(() => {})
  const loading = { compiled: new Promise<never>(() => {}), snapshot, end() {} }
  return { checksum, loading, ...(revision && { revision }), ...(sequence && { sequence }) }
}

async function setUp() {
  const directory = await mkdtemp(join(tmpdir(), 'postern-snapshot-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const file = join(directory, 'policy.snapshot')
  const lines: string[] = []
  const log = {
    info: (fields: object, text: string) => void lines.push(`${text} ${JSON.stringify(fields)}`),
    warn: (fields: object, text: string) => void lines.push(`${text} ${JSON.stringify(fields)}`),
  }
  const snapshot = createPolicySnapshot(file, log)
  onTestFinished(() => snapshot.close())
  return { file, log, lines, snapshot }
}

/** Lets so much time pass that the next confirmation reaches the file. */
function laterThanOneConfirmation(): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 })
}

afterEach(() => {
  vi.useRealTimers()
})

describe('a policy snapshot', () => {
  test('has its time renewed while it holds the live revision', async () => {
    const { file, snapshot } = await setUp()
    snapshot.write(first)
    await until(() => snapshot.state().current === true)
    await utimes(file, longAgo, longAgo)

    laterThanOneConfirmation()
    snapshot.confirm()

    await until(async () => (await stat(file)).mtimeMs > longAgo.getTime())
    expect(snapshot.state()).toEqual({ file, current: true, failures: 0, lastError: undefined })
  })

  test('that holds another revision than the live one keeps its old time', async () => {
    const { file, lines, snapshot } = await setUp()
    snapshot.write(second)
    await until(() => snapshot.state().current === true)
    await writeFile(file, formatSnapshot(first))
    await utimes(file, longAgo, longAgo)

    laterThanOneConfirmation()
    snapshot.confirm()
    await until(() => snapshot.state().current === false)
    await snapshot.close()

    expect((await stat(file)).mtimeMs).toBe(longAgo.getTime())
    expect(snapshot.isLost()).toBe(true)
    expect(lines.join()).toContain('policy snapshot does not hold the live revision')
  })

  test.each([
    ['deleted', (file: string) => rm(file)],
    ['cut after its beginning', (file: string) => truncate(file, 300)],
    ['replaced by an older one', (file: string) => writeFile(file, formatSnapshot(first))],
  ])('that is %s while a gateway runs is written again', async (_, spoil) => {
    const { file } = await setUp()
    const published = await startPublished({
      rules: ['clerk, /a, GET'],
      policy: { snapshot: file },
    })
    await until(
      async () =>
        (await published.ask('/a')) === 'allowed' &&
        (await stat(file).then(
          () => true,
          () => false,
        )),
    )
    const content = await readFile(file, 'utf8')

    await spoil(file)
    laterThanOneConfirmation()

    await until(async () => (await readFile(file, 'utf8').catch(() => '')) === content)
    await until(() => published.postern.logText().includes('policy snapshot written'))
    expect((await published.readyz()).policy).toMatchObject({ snapshot: { current: true } })
    expect((await published.readyz()).policy.reloads).toMatchObject({ failed: 0 })
  })

  test('is looked after by a gateway whose clock is set back', async () => {
    const { file, snapshot } = await setUp()
    snapshot.write(first)
    await until(() => snapshot.state().current === true)
    await rm(file)

    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 })
    snapshot.confirm()

    await until(() => snapshot.isLost())
  })

  test('whose text could not be made is asked for again, and not retried for ever', async () => {
    const { snapshot } = await setUp()
    snapshot.write(unwritable(second))
    await until(() => snapshot.state().failures > 0)

    laterThanOneConfirmation()
    await until(() => {
      snapshot.confirm()
      return snapshot.isLost()
    })
    snapshot.write(second)

    await until(() => snapshot.state().current === true)
    expect(snapshot.isLost()).toBe(false)
  })

  test('of a withdrawn revision is removed when the new one cannot be written', async () => {
    const { file, lines, snapshot } = await setUp()
    snapshot.write(first)
    await until(() => snapshot.state().current === true)

    snapshot.write(unwritable(second))
    await until(() => snapshot.state().failures > 0)
    laterThanOneConfirmation()
    snapshot.confirm()
    await snapshot.close()

    expect(await stat(file).catch(() => 'gone')).toBe('gone')
    expect(snapshot.state()).toMatchObject({ current: false, lastError: 'no text for a test' })
    expect(lines.join()).toContain('"outdated":"removed"')
  })

  test('of a newer revision, by another process, is not replaced', async () => {
    const { file, log, snapshot } = await setUp()
    const other = createPolicySnapshot(file, log)
    other.write(second)
    await until(() => other.state().current === true)

    snapshot.write(first)
    await snapshot.close()

    expect(snapshot.state().current).toBe(false)
    expect(await readFile(file, 'utf8')).toContain(second.revision)
  })
})
