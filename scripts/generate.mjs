// `npm run generate`: writes every generated file of the repository that is stale, and names it.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { generatedFiles } from './generate/files.mjs'

for (const { file, text, isStale } of await generatedFiles()) {
  if (!isStale) continue
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  console.log(`wrote ${file}`)
}
