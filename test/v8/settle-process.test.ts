import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { startLoneGateway } from '../support/lone-gateway.ts'

const run = promisify(execFile)

async function inProcess(script: string, ...flags: string[]): Promise<string> {
  const all = [...flags, '--input-type=module', '--eval', script]
  return (await run(process.execPath, all)).stdout
}

const settle = `
const { settleProcess } = await import('${resolve('src/serve/settle-process.ts')}')
settleProcess()
`

/** Says whether V8 came to make old at once what is made in one place and kept for a while. */
const makesOld = `
function make(at) { return { at, more: [at] } }
let old = 0
for (let round = 0; round < 3; round++) {
  const kept = []
  for (let at = 0; at < 400_000; at++) kept.push(make(at))
  await new Promise(setImmediate)
  for (let at = 0; at < 1000; at++) if (!%InYoungGeneration(make(at))) old++
}
console.log(old > 0)
`

/** Whether it is so in one of that many processes: in one of seven it is not, and stays so. */
async function isMadeOld(processes: number, before = ''): Promise<boolean> {
  for (let at = 0; at < processes; at++) {
    const said = await inProcess(before + makesOld, '--allow-natives-syntax')
    if (said === 'true\n') return true
  }
  return false
}

test('what is made once much of its kind has lived for long is made young all the same', async () => {
  // Once this is false by itself, nothing of it is needed any more.
  expect(await isMadeOld(12)).toBe(true)

  expect(await isMadeOld(3, settle)).toBe(false)
})

test('the old generation may grow to nearly three times its size', async () => {
  const traced = await inProcess(settle, '--trace-gc-nvp')

  const last = traced.split('\n').findLast((line) => line.includes(' gc=mc '))
  const [alive = 0, limit = 0] = ['end_object_size', 'old_gen_allocation_limit'].map((name) =>
    Number(new RegExp(` ${name}=(\\d+)`).exec(last ?? '')?.[1]),
  )
  expect(alive).toBeGreaterThan(1e6)
  expect(limit / alive).toBeGreaterThan(2.5)
})

test('the room that loading took is given back', async () => {
  const script = `
const { getHeapSpaceStatistics } = await import('node:v8')
const roomForNew = () =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size
await import('${resolve('src/serve/serve.ts')}')
const before = roomForNew()
${settle}
console.log(JSON.stringify({ before, after: roomForNew(), gc: typeof globalThis.gc }))
`

  const { before, after, gc } = JSON.parse(await inProcess(script))

  expect(after).toBeLessThan(before / 4)
  expect(gc).toBe('undefined')
})

test('it is done to every gateway that is started', async () => {
  const { gateway } = await startLoneGateway({}, { preload: 'tells-memory.ts' })

  const told = gateway.logged(({ msg }) => msg === 'memory')
  gateway.signal('SIGUSR2')
  await told

  expect(gateway.log.find(({ msg }) => msg === 'memory')?.['room']).toBeLessThan(8e6)
})
