import { globSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import type { Description } from '../../src/operations/operation.ts'

/** Every operation by kind and name, such as `question user list`. */
export async function allDescriptions(): Promise<ReadonlyMap<string, Description>> {
  const found = new Map<string, Description>()
  for (const file of globSync('src/operations/*/*descriptions.ts').toSorted()) {
    const module: object = await import(pathToFileURL(file).href)
    for (const each of Object.values(module)) {
      if (isDescription(each)) found.set(`${each.kind} ${each.name}`, each)
    }
  }
  return found
}

function isDescription(value: unknown): value is Description {
  return typeof value === 'object' && value !== null && 'input' in value && 'kind' in value
}
