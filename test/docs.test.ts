import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { countPages, mostWords } from '../scripts/words.ts'
import { outcomes } from '../src/http/ended-request.ts'

const pages = [
  ...readdirSync('.').filter((name) => name.endsWith('.md')),
  ...['docs', 'bench', 'samples', 'helm', 'policies'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.md') && !path.includes('node_modules'))
      .map((path) => join(folder, path)),
  ),
]

/** The threat model with its tests, and the notes of the benchmarks. */
const mayBeLonger: ReadonlySet<string> = new Set(['SECURITY.md', 'bench/NOTES.md'])

function withoutCode(text: string): string {
  return text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '')
}

/** The anchors that GitHub gives to the headings of a page. */
function anchorsOf(path: string): ReadonlySet<string> {
  const text = readFileSync(path, 'utf8').replace(/^```[\s\S]*?^```/gm, '')
  const seen = new Map<string, number>()
  const anchors = new Set<string>()
  for (const [, heading = ''] of text.matchAll(/^#{1,6} (.+)$/gm)) {
    const slug = heading
      .toLowerCase()
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replace(/\s/g, '-')
    const times = seen.get(slug) ?? 0
    seen.set(slug, times + 1)
    anchors.add(times === 0 ? slug : `${slug}-${times}`)
  }
  return anchors
}

/** The names in first columns, which the site gives an anchor too (site/.vitepress/config.mjs). */
function namesIn(page: string): ReadonlySet<string> {
  const cells = readFileSync(page, 'utf8').matchAll(/^\| (`[^|]*) \|/gm)
  const names = [...cells].flatMap(([, cell = '']) => [...cell.matchAll(/`([\w-]+)`/g)])
  return new Set(names.map(([, name = '']) => name))
}

function brokenLinks(page: string): readonly string[] {
  const links = withoutCode(readFileSync(page, 'utf8')).matchAll(/\]\((?<to>[^)\s]+)\)/g)
  return [...links].flatMap(({ groups }) => {
    const to = groups?.['to'] ?? ''
    if (/^(?:https?|mailto):/.test(to)) return []
    const [path = '', anchor] = to.split('#')
    const file = path === '' ? page : resolve(dirname(page), path)
    if (!existsSync(file)) return [`${page}: ${to}: no such file`]
    if (anchor === undefined || statSync(file).isDirectory() || !file.endsWith('.md')) return []
    return anchorsOf(file).has(anchor) ? [] : [`${page}: ${to}: no such heading`]
  })
}

describe('the Markdown pages', () => {
  test('link to files and headings that exist', () => {
    expect(pages.length).toBeGreaterThan(20)
    expect(pages.flatMap(brokenLinks)).toEqual([])
  })

  test('name every package of production with its home', () => {
    const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      readonly dependencies: Readonly<Record<string, string>>
    }
    const page = readFileSync('docs/decisions/README.md', 'utf8')
    const names = Object.keys(dependencies)

    expect(names.length).toBeGreaterThan(10)
    expect(names.filter((name) => !page.includes(`\n| ${name} | \`src/`))).toEqual([])
  })

  test('name files of this repository that exist', () => {
    const missing = pages.flatMap((page) =>
      [...readFileSync(page, 'utf8').matchAll(/`((?:src|test|scripts|samples)\/[\w./-]+)`/g)]
        .map(([, path = '']) => path)
        .filter((path) => !existsSync(path))
        .map((path) => `${page}: ${path}`),
    )

    expect(missing).toEqual([])
  })

  test('are all in an index', () => {
    for (const folder of ['docs', 'docs/decisions']) {
      const index = readFileSync(join(folder, 'README.md'), 'utf8')
      const names = readdirSync(folder).filter((name) => /(?<!README)\.md$/.test(name))

      expect(names.filter((name) => !index.includes(`](${name})`))).toEqual([])
    }
  })

  test('answer one question each, in at most 1,500 words', () => {
    const longer = [...countPages(pages, (name) => readFileSync(name, 'utf8'))]
      .filter(([name, words]) => words > mostWords && !mayBeLonger.has(name))
      .map(([name, words]) => `${name}: ${words} words`)

    expect(longer).toEqual([])
  })

  test('begin with a README that fits a few screens', () => {
    expect(readFileSync('README.md', 'utf8').split('\n').length).toBeLessThanOrEqual(151)
  })
})

describe('messages', () => {
  const links = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .flatMap((path) => [
      ...readFileSync(join('src', path), 'utf8').matchAll(/\bdocs\/[\w./-]+\.md(?:#[\w-]+)?/g),
    ])
    .map(([link]) => link)

  test('link to pages and anchors that exist', () => {
    const broken = links.filter((link) => {
      const [page = '', anchor] = link.split('#')
      if (!existsSync(page)) return true
      return anchor !== undefined && !anchorsOf(page).has(anchor) && !namesIn(page).has(anchor)
    })

    expect(links.length).toBeGreaterThan(10)
    expect(broken).toEqual([])
  })
})

describe('the references', () => {
  const text = (page: string) => readFileSync(join('docs', page), 'utf8')

  test('list every outcome of a request', () => {
    const page = text('outcomes.md')
    expect(outcomes.filter((outcome) => !page.includes(`\`${outcome}\``))).toEqual([])
  })

  test('list every key that the stores name in Redis', () => {
    const page = text('redis-keys.md')
    const names = readdirSync('src/stores', { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .flatMap((path) => [
        ...readFileSync(join('src/stores', path), 'utf8').matchAll(
          /`\$\{(?:redis\.)?prefix\}([a-z][a-z:]*)/g,
        ),
      ])
      .map(([, name = '']) => name)

    expect(names.length).toBeGreaterThan(25)
    expect(names.filter((name) => !page.includes(`\`{postern}:${name}`))).toEqual([])
  })
})

describe('the picture of the modules in docs/architecture.md', () => {
  const text = readFileSync('docs/architecture.md', 'utf8')
  const [, picture = ''] = /```mermaid\n([\s\S]*?)```/.exec(text) ?? []
  const drawn = [...picture.matchAll(/^ {2}(\w+)(?:\[.*?\])? --> ([\w &]+)$/gm)].flatMap(
    ([, from = '', targets = '']) => targets.split(' & ').map((to) => `${from} -> ${to}`),
  )
  const folders = readdirSync('src', { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)

  test('has every folder of src', () => {
    const nodes = [...picture.matchAll(/^ {2}(\w+)\[/gm)].map(([, name]) => name)

    expect(nodes.toSorted()).toEqual([...folders, 'main'].toSorted())
  })

  test('has no arrow that is not an import', () => {
    const imports = new Set(
      ['main.ts', ...folders].flatMap((part) => {
        const files = part.endsWith('.ts')
          ? [part]
          : readdirSync(join('src', part), { recursive: true, encoding: 'utf8' })
              .filter((path) => path.endsWith('.ts'))
              .map((path) => join(part, path))
        return files.flatMap((file) =>
          [...readFileSync(join('src', file), 'utf8').matchAll(/'(\.[^']+\.ts)'/g)].map(
            ([, to = '']) =>
              `${part.replace('.ts', '')} -> ${join(dirname(file), to).split('/')[0]}`,
          ),
        )
      }),
    )

    expect(drawn.length).toBeGreaterThan(15)
    expect(drawn.filter((arrow) => !imports.has(arrow))).toEqual([])
  })
})
