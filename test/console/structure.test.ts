import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = resolve('console/src')
const sources = readdirSync(root, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.tsx?$/.test(path) && !path.endsWith('.d.ts'))
  .map((path) => {
    const text = readFileSync(join(root, path), 'utf8')
    const from = [...text.matchAll(/(?:from|import)(?:\s|\()'([^']+)'/g)].map(([, it = '']) => it)
    const own = from
      .filter((it) => it.startsWith('.'))
      .map((it) => relative(root, resolve(root, dirname(path), it)))
    return { path, text, own, foreign: from.filter((it) => !/^\.|^#client$/.test(it)) }
  })

const code = (text: string) => text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
const pathsWith = (pattern: RegExp) =>
  sources.filter(({ text }) => pattern.test(code(text))).map(({ path }) => path)
const pageOf = (path: string) => /^pages\/([^/]+)/.exec(path)?.[1]

describe('the front end of the console', () => {
  test('has Preact, the client and no other package', () => {
    const packages = new Set(sources.flatMap(({ foreign }) => foreign))

    expect([...packages].filter((name) => !/^preact(?:\/hooks)?$/.test(name))).toEqual([])
  })

  test('has pages that do not import one another', () => {
    const arrows = sources.flatMap(({ path, own }) => own.map((to) => [path, to] as const))
    const between = arrows.filter(
      ([path, to]) =>
        path !== 'pages.ts' && pageOf(to) !== undefined && pageOf(to) !== pageOf(path),
    )

    expect(between).toEqual([])
    expect(arrows.some(([path]) => pageOf(path) !== undefined)).toBe(true)
  })

  test('sends requests from one file only', () => {
    expect(pathsWith(/\bcreateClient\b/)).toEqual(['api.ts'])
    expect(pathsWith(/\b(?:fetch|XMLHttpRequest|EventSource|WebSocket|sendBeacon)\b/)).toEqual([])
  })

  test('writes text and never markup', () => {
    expect(
      pathsWith(
        /innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write|\beval\b|new Function/,
      ),
    ).toEqual([])
    // The Content-Security-Policy would refuse it in markup; objects go through the CSSOM.
    expect(pathsWith(/\bstyle=["']|\bstyle=\{["'`]/)).toEqual([])
  })

  test('has functions in lib that need no browser and no Preact', () => {
    const lib = sources.filter(({ path }) => path.startsWith('lib/'))

    expect(lib.filter(({ foreign }) => foreign.length > 0).map(({ path }) => path)).toEqual([])
    expect(
      lib
        .filter(({ text }) => /\b(?:document|window|navigator|location|localStorage)\./.test(text))
        .map(({ path }) => path),
    ).toEqual([])
    expect(lib.length).toBeGreaterThan(3)
  })

  test('has a folder with a page and its texts in both languages for each entry of the table', () => {
    const table = sources.find(({ path }) => path === 'pages.ts')?.own ?? []
    const folders = readdirSync(join(root, 'pages'))
    const texts = sources.filter(({ path }) => /^pages\/[^/]+\/texts\.ts$/.test(path))

    expect(table.filter((to) => to.startsWith('pages/')).toSorted()).toEqual(
      folders.map((name) => `pages/${name}/page.tsx`).toSorted(),
    )
    expect(texts.length).toBe(folders.length)
    for (const { path, text } of texts) expect(text, path).toContain('const zh: typeof en = {')
  })

  test('has no text outside of the files for texts', () => {
    const attributes =
      /\b(?:aria-label|title|alt|placeholder|label|caption|about)="[^"]*[A-Za-z]{3}/
    const shown = sources.filter(
      ({ path, text }) =>
        path.endsWith('.tsx') &&
        (attributes.test(code(text).replace('placeholder="/api', '')) ||
          /<(?:p|h\d|li|button|span|th|td|dt|label|legend|summary)[^<>]*>\s*[A-Za-z][^<>{}]*</.test(
            code(text),
          )),
    )

    expect(shown.map(({ path }) => path)).toEqual([])
  })

  test('has at most 20 files directly in a folder', () => {
    const folders = Object.entries(Object.groupBy(sources, ({ path }) => dirname(path)))

    expect(folders.filter(([, files = []]) => files.length > 20).map(([name]) => name)).toEqual([])
  })
})
