import { existsSync, readFileSync } from 'node:fs'

const root = '../shared/corpora'
let told = false

/** The text of a public corpus file, or `undefined`, said once, where the corpora are not at hand. */
export function corpusText(name: string): string | undefined {
  const path = `${root}/${name}`
  if (existsSync(path)) return readFileSync(path, 'latin1')
  if (!told) console.warn(`left out: the public corpora are not at ${root}`)
  told = true
  return undefined
}

/** The distinct non-empty lines of these corpus files; none where the corpora are not at hand. */
export function corpusLines(...names: readonly string[]): string[] {
  const lines = names.flatMap((name) => corpusText(name)?.split('\n') ?? [])
  return [...new Set(lines.map((line) => line.replace(/\r$/, '')))].filter((line) => line !== '')
}
