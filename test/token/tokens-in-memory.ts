/* Run by good-signatures.test.ts: says when the text of a token that was verified is in memory. */
import { randomBytes } from 'node:crypto'
import { mock } from 'node:test'
import { getHeapSnapshot } from 'node:v8'
import { createGoodSignatures } from '../../src/token/good-signatures.ts'

mock.timers.enable({ apis: ['setTimeout'] })

/** What to look for, in a spelling that is not found itself. */
const backwards = randomBytes(24).toString('hex')
const token = () => `${[...backwards].reverse().join('')}.b.c`
const signatures = createGoodSignatures<object>()
// In functions of their own: what a running one has made stays with it.
const keep = () => signatures.keep(token(), {})
const isFound = () => signatures.find(token()) !== undefined

async function isInMemory(): Promise<boolean> {
  globalThis.gc?.()
  let text = ''
  for await (const chunk of getHeapSnapshot()) text += chunk
  const strings = text.slice(text.lastIndexOf('"strings":'))
  return [...strings].reverse().join('').includes(backwards)
}

const seen: Record<string, boolean> = {}
seen['at first'] = await isInMemory()
keep()
seen['in use'] = await isInMemory()
mock.timers.tick(6000)
seen['later'] = await isInMemory()
seen['found again'] = isFound()
mock.timers.tick(6000)
seen['later again'] = await isInMemory()
console.log(JSON.stringify(seen))
