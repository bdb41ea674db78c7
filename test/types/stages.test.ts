import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

/** Compiles one program against the real stages and returns the compiler's complaints. */
function complaints(body: string): string {
  const directory = mkdtempSync(join(resolve('test/types'), 'program-'))
  const source = `
    import type { ServerResponse } from 'node:http'
    import type { Arrival } from '../../../src/gateway/arrival/arrival.ts'
    import { authorize } from '../../../src/gateway/authorize.ts'
    import { forward, type ForwardParts } from '../../../src/gateway/forward.ts'
    import { identify, type IdentifyParts } from '../../../src/gateway/identify.ts'
    import { receive, type ReceiveParts } from '../../../src/gateway/receive.ts'
    import type { Authorized, Identified } from '../../../src/gateway/stages.ts'
    import type { CompiledPolicies } from '../../../src/policy/engine/compile.ts'
    export async function line(
      arrival: Arrival, reply: ServerResponse, parts: ReceiveParts & IdentifyParts & ForwardParts,
      policies: () => CompiledPolicies,
    ): Promise<void> {
      void [identify, authorize, policies, reply]
      const received = receive(arrival, parts)
      ${body}
    }
    export type Used = [Authorized, Identified]
  `
  try {
    writeFileSync(join(directory, 'program.ts'), source)
    writeFileSync(
      join(directory, 'tsconfig.json'),
      JSON.stringify({ extends: '../../../tsconfig.json', include: ['program.ts'] }),
    )
    execFileSync('node', ['node_modules/typescript/bin/tsc', '-p', directory], { encoding: 'utf8' })
    return ''
  } catch (error) {
    return String((error as { stdout?: unknown }).stdout)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

describe('the line of stages', () => {
  test('compiles when every stage is there, in order', () => {
    const program = `
      const identified = await identify(received, parts)
      await forward(authorize(identified, policies), reply, parts)`

    expect(complaints(program)).toBe('')
  })

  test.each([
    [
      'the permission check left out',
      'await forward(await identify(received, parts), reply, parts)',
    ],
    ['both checks left out', 'await forward(received, reply, parts)'],
    ['the identity check left out', 'await forward(authorize(received, policies), reply, parts)'],
    [
      'a result made by hand',
      `await forward({ received, token: undefined, carrier: undefined, grounds: 'public-route' }, reply, parts)`,
    ],
  ])('does not compile with %s', (_, program) => {
    expect(complaints(program)).toMatch(/program\.ts.*error TS2345/)
  })
})
