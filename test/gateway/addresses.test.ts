import { describe, expect, onTestFinished, test } from 'vitest'
import { watchAddresses } from '../../src/gateway/upstream/addresses.ts'
import { until } from '../support/until.ts'

/** A name whose answers come from this list, the last one again and again. */
function watch(host: string, answers: readonly (readonly string[] | Error)[]) {
  const changes: (readonly string[])[] = []
  const problems: (string | undefined)[] = []
  let asked = 0
  const watching = watchAddresses({
    host,
    refreshMs: 1,
    onLookup: (name, error) =>
      problems.push(error === null ? undefined : `${name}: ${error.message}`),
    onChange: (addresses) => changes.push(addresses),
    async resolve() {
      const answer = answers[Math.min(asked++, answers.length - 1)] ?? []
      if (answer instanceof Error) throw answer
      return answer
    },
  })
  onTestFinished(watching.close)
  return { changes, problems, asked: () => asked }
}

describe('the addresses behind a name', () => {
  test('are told when they are first known and when they change, whatever their order', async () => {
    const { changes, asked } = watch('orders', [
      ['10.0.0.1', '10.0.0.2'],
      ['10.0.0.2', '10.0.0.1'],
      ['10.0.0.2', '10.0.0.3'],
    ])

    await until(() => asked() > 4)
    expect(changes).toEqual([
      ['10.0.0.1', '10.0.0.2'],
      ['10.0.0.2', '10.0.0.3'],
    ])
  })

  test('stay when the name server fails or has none', async () => {
    const { changes, asked } = watch('orders', [['10.0.0.1'], new Error('SERVFAIL'), []])

    await until(() => asked() > 4)
    expect(changes).toEqual([['10.0.0.1']])
  })

  test('tell of each lookup whether it failed, or found nothing', async () => {
    const { problems } = watch('orders', [['10.0.0.1'], new Error('SERVFAIL'), [], ['10.0.0.1']])

    await until(() => problems.length > 3)
    expect(problems.slice(0, 4)).toEqual([
      undefined,
      'orders: SERVFAIL',
      'orders: no address found for orders',
      undefined,
    ])
  })

  test.each(['127.0.0.1', '::1', '[::1]'])('are not asked for when it is one: %s', async (host) => {
    const { asked } = watch(host, [['10.0.0.1']])
    await new Promise((resolve) => setTimeout(resolve, 20))

    expect(asked()).toBe(0)
  })
})
