import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { faultEnvelopes, refusalEnvelopes } from '../../src/http/envelope.ts'
import { faultCode, refusalCode } from '../../src/http/grpc/status.ts'
import { catalogs } from '../../src/messages/catalogs.ts'
import type { MessageKind } from '../../src/messages/texts.ts'

const [, tables = ''] = readFileSync('docs/refusals.md', 'utf8').split('\n## Refusals\n')
const rows = tables
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.slice(2, -2).split(' | '))
const rowOf = (kind: string) => rows.find(([name]) => name === `\`${kind}\``)?.slice(1)

test('docs/refusals.md has every message as it is sent', () => {
  const envelopes = refusalEnvelopes({ status: 'envelope', notPermittedCode: 401 })
  const reals = refusalEnvelopes({ status: 'real', notPermittedCode: 401 })

  for (const [kind, english] of Object.entries(catalogs.en)) {
    const texts = [english, catalogs.zh[kind as MessageKind]]
    const refusal = envelopes[kind as keyof typeof envelopes]
    const fault = faultEnvelopes[kind as keyof typeof faultEnvelopes]
    const numbers =
      refusal !== undefined
        ? [
            refusal.code,
            refusal.status,
            reals[kind as keyof typeof reals].status,
            refusalCode(kind as keyof typeof envelopes),
          ]
        : fault !== undefined
          ? [fault.status, faultCode(kind as keyof typeof faultEnvelopes)]
          : []
    expect(rowOf(kind), kind).toEqual([...numbers.map(String), ...texts])
  }
})

test('docs/refusals.md has no message that does not exist', () => {
  const named = rows.map(([name = '']) => name.slice(1, -1))

  expect(named.toSorted()).toEqual(Object.keys(catalogs.en).toSorted())
})
