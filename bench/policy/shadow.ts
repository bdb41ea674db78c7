// What a shadow adds to the CPU time of `authorize`: without one, with one that agrees, and with one
// that differs on every request.
import { parseArgs } from 'node:util'
import { authorize, type Observe } from '../../src/gateway/authorize.ts'
import { ShadowComparison } from '../../src/gateway/shadow/shadow-comparison.ts'
import type { Identified } from '../../src/gateway/stages.ts'
import type { Question } from '../../src/policy/decide.ts'
import { preparePolicies } from '../../src/policy/engine/prepare.ts'
import { createSample } from './policy.ts'
import { time } from './timing.ts'

const usage = `npm run bench:shadow -- [--rules N] [--runs N]

  --rules N  rules of the live policy and of the shadow (10000)
  --runs N   repeat so often, in turn, and print the median of each (7)

The target is 3 µs per request with a shadow, and nothing without.
`

const { values } = parseArgs({
  options: {
    rules: { type: 'string', default: '10000' },
    runs: { type: 'string', default: '7' },
    help: { type: 'boolean', default: false },
  },
})
const [rules, runs] = [Number(values.rules), Number(values.runs)]
if (values.help || ![rules, runs].every((each) => Number.isInteger(each) && each > 0)) {
  process.stdout.write(usage)
  process.exit(values.help ? 0 : 2)
}

const { files, hits } = createSample(rules)
const live = await preparePolicies(files)
// The same rules for other roles: it denies what the live policy allows.
const others = files.map(({ name, text }) => ({
  name,
  text: text.replaceAll('\np, ', '\np, other-'),
}))
const showing = { path: (path: string) => path, userId: (userId: string) => userId }

function comparison(): ShadowComparison {
  return new ShadowComparison({ showing })
}
const agreeing = comparison()
agreeing.start(await preparePolicies(files), 1)
const differing = comparison()
differing.start(await preparePolicies(others), 1)

const requests = hits.map(({ roleKey, method, path }: Question, at) => {
  const received = {
    ...{ need: 'permission', call: { method, path }, requestId: `request-${at}` },
    arrival: { notes: {} },
  }
  return { received, token: { caller: { roleKey, userId: '42' } } } as unknown as Identified
})

const cases: readonly (readonly [string, Observe | undefined])[] = [
  ['no observer', undefined],
  ['no shadow', comparison().observe],
  ['a shadow that agrees', agreeing.observe],
  ['a shadow that differs on every request', differing.observe],
]
const timing = { batch: 64, forMs: 1500 }
const medians = new Map(cases.map(([name]) => [name, [] as number[]]))
for (let run = 0; run < runs; run++) {
  for (const [name, observe] of cases) {
    const { medianNs } = time(requests, (each) => authorize(each, () => live, observe), timing)
    medians.get(name)?.push(medianNs)
  }
}

const middle = (of: readonly number[]) => of.toSorted((a, b) => a - b)[of.length >> 1] ?? 0
const base = middle(medians.get('no observer') ?? [])
for (const [name, all] of medians) {
  const [ns, least, most] = [middle(all), Math.min(...all), Math.max(...all)]
  const added = name === 'no observer' ? '' : `, ${((ns - base) / 1000).toFixed(2)} µs more`
  process.stdout.write(
    `${name}: ${(ns / 1000).toFixed(2)} µs (${(least / 1000).toFixed(2)} to ${(most / 1000).toFixed(2)})${added}\n`,
  )
}
