// Counts the words that people wrote in the documentation, page by page.
//   node scripts/words.ts              counts the files of the checkout
//   node scripts/words.ts REVISION     counts a commit, such as one before your change
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** A page has at most so many words; test/docs.test.ts names those that may have more. */
export const mostWords = 1500

/** Written by `npm run generate`, records of what was decided or changed, and setups of tests. */
const notCounted =
  /^(?:docs\/(?:settings|http-api|commands)\.md|docs\/commands\/|docs\/decisions\/|CHANGELOG\.md|test\/)/

/** Pages whose end is generated, with the heading at which it begins. */
const generatedFrom = new Map([
  ['docs/refusals.md', '## Refusals\n'],
  ['helm/postern/README.md', '## Values\n'],
])

/** The hand-written words of each page, as `wc -w` counts them: examples and tables too. */
export function countPages(
  names: readonly string[],
  read: (name: string) => string,
): ReadonlyMap<string, number> {
  const pages = names.filter((name) => name.endsWith('.md') && !notCounted.test(name))
  return new Map(
    pages.map((name) => {
      const [written = ''] = read(name).split(generatedFrom.get(name) ?? '\0')
      return [name, written.split(/\s+/).filter((word) => word !== '').length]
    }),
  )
}

const git = (...args: readonly string[]) =>
  execFileSync('git', args, { encoding: 'utf8', maxBuffer: 64 << 20 })

if (process.argv[1] === import.meta.filename) {
  const [revision] = process.argv.slice(2)
  const list =
    revision === undefined ? git('ls-files') : git('ls-tree', '-r', '--name-only', revision)
  const read = (name: string) =>
    revision === undefined ? readFileSync(name, 'utf8') : git('show', `${revision}:${name}`)
  const pages = [...countPages(list.trim().split('\n'), read)].toSorted(([, a], [, b]) => b - a)
  const sum = (some: readonly (readonly [string, number])[]) =>
    some.reduce((total, [, words]) => total + words, 0)
  for (const [name, words] of pages.filter(([, words]) => words > mostWords)) {
    console.log(`${String(words).padStart(7)}  ${name}`)
  }
  const docs = pages.filter(([name]) => name.startsWith('docs/'))
  console.log(`${String(sum(docs)).padStart(7)}  docs/, ${docs.length} pages`)
  console.log(`${String(sum(pages)).padStart(7)}  all, ${pages.length} pages`)
}
