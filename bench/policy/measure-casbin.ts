// Casbin on the same policy and the same questions, in a process of its own. Prints JSON.
import { newEnforcer, newModelFromString, StringAdapter } from 'casbin'
import { decide, type Question } from '../../src/policy/decide.ts'
import { compile } from '../../src/policy/engine/compile.ts'
import { parsePolicySet } from '../../src/policy/set/policy-set.ts'
import { createSample } from './policy.ts'
import { time } from './timing.ts'

const { files, hits, misses } = createSample(Number(process.argv[2]))
const textOf = (file: string) => files.find(({ name }) => name === file)?.text ?? ''

const begun = performance.now()
const model = newModelFromString(textOf('model.conf'))
const enforcer = await newEnforcer(model, new StringAdapter(textOf('policy.csv')))
const loadMs = performance.now() - begun

const ask = ({ roleKey, path, method }: Question) => enforcer.enforceSync(roleKey, path, method)
const timing = { batch: 4, forMs: 2_000 }
const hit = time(hits, ask, timing)
const miss = time(misses, ask, timing)

// The exclusions are ours; without them both answer by the rules alone.
const compiled = compile(parsePolicySet(files.filter(({ name }) => name !== 'exclusions.yaml')))
const asked = [...hits.slice(0, 100), ...misses.slice(0, 100)]
const differing = asked.filter((question) => ask(question) !== decide(question, compiled).allowed)

process.stdout.write(
  JSON.stringify({ hit, miss, loadMs: Math.round(loadMs), differingAnswers: differing.length }),
)
