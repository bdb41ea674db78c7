import type { LookupFunction } from 'node:net'
import { describe, expect, test } from 'vitest'
import { createNameLookup } from '../../src/wire/name-lookup.ts'

type Answer = string | 'EAI_AGAIN' | 'ENOTFOUND'

/** Looks one name up as often as there are answers, and gives what each lookup found. */
function lookUp(answers: readonly Answer[], options = { all: true }) {
  const reported: (string | undefined)[] = []
  const left = [...answers]
  const answer: LookupFunction = (_, { all }, found) => {
    const next = left.shift() ?? ''
    if (/^E/.test(next)) found(Object.assign(new Error(next), { code: next }), '')
    else if (all === true) found(null, [{ address: next, family: 4 }])
    else found(null, next, 4)
  }
  const lookup = createNameLookup(
    (_, error) => reported.push((error as NodeJS.ErrnoException | null)?.code),
    answer,
  )
  const found: unknown[] = []
  for (const _ of answers) {
    lookup('orders', options, (error, ...addresses) => found.push(error?.code ?? addresses))
  }
  return { found, reported }
}

describe('the lookup of a name', () => {
  test.each([
    [true, (address: string) => [[{ address, family: 4 }]]],
    [false, (address: string) => [address, 4]],
  ])('finds the last known address while no name server answers (all: %s)', (all, as) => {
    const { found, reported } = lookUp(['10.0.0.1', '10.0.0.2', 'EAI_AGAIN', '10.0.0.3'], { all })

    expect(found).toEqual([as('10.0.0.1'), as('10.0.0.2'), as('10.0.0.2'), as('10.0.0.3')])
    expect(reported).toEqual([undefined, undefined, 'EAI_AGAIN', undefined])
  })

  test('fails while none is known, and when the name server says that there is none', () => {
    const { found } = lookUp(['EAI_AGAIN', '10.0.0.1', 'ENOTFOUND'])

    expect(found).toEqual(['EAI_AGAIN', [[{ address: '10.0.0.1', family: 4 }]], 'ENOTFOUND'])
  })
})
