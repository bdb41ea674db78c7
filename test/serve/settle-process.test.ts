import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)

async function inProcess(script: string, ...flags: string[]): Promise<string> {
  const all = [...flags, '--input-type=module', '--eval', script]
  return (await run(process.execPath, all)).stdout
}

const settle = `
const { settleProcess } = await import('${resolve('src/serve/settle-process.ts')}')
settleProcess()
`

/** Keeps what is made in one place until V8 makes it old there, or for so many rounds. */
const makesOld = (rounds: number) => `
function make(at) { return { at, more: [at] } }
let old = 0
for (let round = 0; round < ${rounds} && old === 0; round++) {
  const kept = []
  for (let at = 0; at < 400_000; at++) kept.push(make(at))
  await new Promise(setImmediate)
  for (let at = 0; at < 1000; at++) if (!%InYoungGeneration(make(at))) old++
}
console.log(old > 0)
`

test('what is made once much of its kind has lived for long is made young all the same', async () => {
  // Once this is false by itself, nothing of it is needed any more.
  expect(await inProcess(makesOld(60), '--allow-natives-syntax')).toBe('true\n')

  expect(await inProcess(settle + makesOld(10), '--allow-natives-syntax')).toBe('false\n')
})

test('the room that loading took is given back', async () => {
  const script = `
const { getHeapSpaceStatistics } = await import('node:v8')
const roomForNew = () =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size
await import('${resolve('src/serve.ts')}')
const before = roomForNew()
${settle}
console.log(JSON.stringify({ before, after: roomForNew(), gc: typeof globalThis.gc }))
`

  const { before, after, gc } = JSON.parse(await inProcess(script))

  expect(after).toBeLessThan(before / 4)
  expect(gc).toBe('undefined')
})
