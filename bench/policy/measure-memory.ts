// What a rule costs when none shares its path with another, in a process of its own. Prints JSON.
import { preparePolicies } from '../../src/policy/engine/prepare.ts'
import { memory, warmUp } from './memory.ts'
import { createSample } from './policy.ts'

const count = Number(process.argv[2])
const { files } = createSample(count, { ownPaths: true })
await warmUp()

const empty = await memory()
const compiled = await preparePolicies(files)
const bytesPerRule = Math.round(((await memory()) - empty) / count)

process.stdout.write(JSON.stringify({ bytesPerRule, revision: compiled.revision }))
