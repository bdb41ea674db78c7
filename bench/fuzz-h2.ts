import { setImmediate as nextTurn } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { fuzzSession } from '../test/h2/fuzzed-session.ts'

/*
 * Mutated frames and header blocks against sessions of HTTP/2, in this process. Ends with 1 at the first
 * sequence after which something is not as it must be, with the seed that repeats it.
 */
const { values } = parseArgs({
  options: {
    sequences: { type: 'string', default: '200000' },
    seed: { type: 'string', default: '1' },
  },
})
const [first, sequences] = [Number(values.seed), Number(values.sequences)]

const total = { frames: 0, delivered: 0, failed: 0, flooded: 0, slowestMs: 0, slowestSeed: 0 }
const startedAt = performance.now()
for (let seed = first; seed < first + sequences; seed++) {
  // Sessions send at the end of a turn, and are not collected before.
  if (seed % 100 === 0) await nextTurn()
  const from = performance.now()
  try {
    const { frames, delivered, hasFailed, flood } = fuzzSession(seed)
    total.frames += frames
    total.delivered += delivered
    total.failed += hasFailed ? 1 : 0
    total.flooded += flood === undefined ? 0 : 1
  } catch (error) {
    console.error(`seed ${seed}:`, error)
    console.error(`repeat it with: npm run fuzz:h2 -- --seed ${seed} --sequences 1`)
    process.exit(1)
  }
  const ms = performance.now() - from
  if (ms > total.slowestMs) Object.assign(total, { slowestMs: ms, slowestSeed: seed })
}
const seconds = Math.round((performance.now() - startedAt) / 100) / 10
console.log(`${sequences} sequences with ${total.frames} frames in ${seconds} s, no rule broken`)
console.log(`${total.delivered} messages delivered`)
console.log(`${total.failed} connections ended with an error, ${total.flooded} of them for a flood`)
console.log(`slowest: ${Math.round(total.slowestMs)} ms (seed ${total.slowestSeed})`)
