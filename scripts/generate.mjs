// `npm run generate`: writes every generated file of the repository that is stale, and names it.
import { writeFileSync } from 'node:fs'
import { generatedFiles } from './generate/files.mjs'

for (const { file, text, isStale } of await generatedFiles()) {
  if (!isStale) continue
  writeFileSync(file, text)
  console.log(`wrote ${file}`)
}
