// One size in a process of its own, so that no other one has shaped its memory. Prints JSON.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setImmediate as turn } from 'node:timers/promises'
import { decide } from '../../src/policy/decide.ts'
import { compile } from '../../src/policy/engine/compile.ts'
import { preparePolicies } from '../../src/policy/engine/prepare.ts'
import { parsePolicySet } from '../../src/policy/set/policy-set.ts'
import { memory, warmUp } from './memory.ts'
import { createSample } from './policy.ts'
import { time } from './timing.ts'

const count = Number(process.argv[2])
const { files, hits, misses } = createSample(count)
await warmUp()

const empty = await memory()
const compiled = await preparePolicies(files)
const bytesPerRule = ((await memory()) - empty) / count

// Batches of some ten microseconds: few of them are interrupted, whatever else the machine does.
const timing = { batch: 32, forMs: 2_000 }
const hit = time(hits, (question) => decide(question, compiled).allowed, timing)
const miss = time(misses, (question) => decide(question, compiled).allowed, timing)

const begun = performance.now()
const set = parsePolicySet(files)
const parsed = performance.now()
compile(set)
const parseMs = parsed - begun
const compileMs = performance.now() - parsed

const holds: Hold[] = []
for (let again = 0; again < 3; again++) holds.push(await prepareWatched())
const shortest = (of: (hold: Hold) => number) => Math.min(...holds.map(of))
const longest = (of: (hold: Hold) => number) => Math.max(...holds.map(of))

process.stdout.write(
  JSON.stringify({
    hit,
    miss,
    // A smaller policy is lost in what the process allocates beside it.
    bytesPerRule: count < 10_000 ? null : Math.round(bytesPerRule),
    parseMs: Math.round(parseMs),
    compileMs: Math.round(compileMs),
    prepareMs: Math.round(shortest(({ wholeMs }) => wholeMs)),
    pauses: shortest(({ pauses }) => pauses),
    holdMs: {
      best: tenth(shortest((each) => each.holdMs)),
      worst: tenth(longest((each) => each.holdMs)),
    },
    sliceCpuMs: {
      best: tenth(shortest((each) => each.cpuMs)),
      worst: tenth(longest((each) => each.cpuMs)),
    },
  }),
)

interface Hold {
  readonly wholeMs: number
  readonly pauses: number
  /** For how long the event loop did not turn, at the longest: work, garbage collection, and whatever
   * else the machine did with the processor. */
  readonly holdMs: number
  /** The most processor time between two pauses. */
  readonly cpuMs: number
}

/** Prepares the policies once more, as a running gateway does, and watches the event loop. */
async function prepareWatched(): Promise<Hold> {
  const loop = monitorEventLoopDelay({ resolution: 1 })
  loop.enable()
  await turn()
  loop.reset()
  const start = performance.now()
  let pauses = 0
  let cpuMs = 0
  let since = cpuNow()
  await preparePolicies(files, {
    pause: async () => {
      cpuMs = Math.max(cpuMs, cpuNow() - since)
      pauses++
      await turn()
      since = cpuNow()
    },
  })
  cpuMs = Math.max(cpuMs, cpuNow() - since)
  const wholeMs = performance.now() - start
  await turn()
  loop.disable()
  return { wholeMs, pauses, holdMs: loop.max / 1e6, cpuMs }
}

function cpuNow(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1e3
}

function tenth(value: number): number {
  return Math.round(value * 10) / 10
}
