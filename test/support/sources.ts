import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

/** One file of `src`. */
interface Source {
  readonly path: string
  readonly text: string
  /** The text without comments. */
  readonly code: string
  readonly imports: readonly { readonly from: string; readonly typeOnly: boolean }[]
}

const root = resolve('src')

export const sources: readonly Source[] = filesIn(root)
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))
  .map((path) => {
    const text = readFileSync(join(root, path), 'utf8')
    const statements = text.matchAll(/^(?:import|export)(?<what>[^'"]*?)from '(?<from>[^']+)'/gms)
    const dynamic = text.matchAll(/import\('(?<from>[^']+)'\)/g)
    const imports = [...statements, ...dynamic].map(({ groups }) => ({
      from: groups?.['from'] ?? '',
      typeOnly: /^ type\b/.test(groups?.['what'] ?? ''),
    }))
    return { path, text, code: text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, ''), imports }
  })

/** Every import of another file of ours, with both ends. */
export const arrows = sources.flatMap(({ path, imports }) =>
  imports
    .filter(({ from }) => from.startsWith('.'))
    .map(({ from, typeOnly }) => {
      return { path, to: relative(root, resolve(root, dirname(path), from)), typeOnly }
    }),
)

/** The nodes that can be reached from themselves. */
export function cycles(edges: readonly (readonly [from: string, to: string])[]): readonly string[] {
  const targets = Map.groupBy(edges, ([from]) => from)
  return [...targets.keys()].filter((start) => {
    const seen = new Set<string>()
    const waiting = [start]
    for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
      for (const [, to] of targets.get(node) ?? []) {
        if (to === start) return true
        if (seen.has(to)) continue
        seen.add(to)
        waiting.push(to)
      }
    }
    return false
  })
}

/** What a file exports and no other one imports, of those that no `import()` loads as a whole. */
export function unusedExports(published: string): readonly string[] {
  const imported = new Set<string>()
  const loaded = new Set([published])
  for (const folder of ['src', 'test', 'bench', 'scripts']) {
    for (const path of filesIn(folder)) {
      if (!/\.(?:ts|mjs)$/.test(path) || path.includes('node_modules')) continue
      const reader = join(folder, path)
      const text = readFileSync(reader, 'utf8')
      const target = (from: string) => relative(root, resolve(dirname(reader), from))
      for (const [, names = '', from = ''] of text.matchAll(/(\{[^{}]*\}) from '(\.[^']+)'/g)) {
        for (const [name] of names.matchAll(/\w+/g)) imported.add(`${target(from)} ${name}`)
      }
      for (const [, all, from = ''] of text.matchAll(/\* as (\w+) from '(\.[^']+)'/g)) {
        const members = text.matchAll(new RegExp(`\\b${all}\\.(\\w+)`, 'g'))
        for (const [, name] of members) imported.add(`${target(from)} ${name}`)
      }
      for (const [, from = ''] of text.matchAll(/import\('(\.[^']+)'\)/g)) loaded.add(target(from))
    }
  }
  return sources
    .filter(({ path }) => !loaded.has(path))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/^export (?:async )?(?:function|const|class|interface|type) (\w+)/gm)].map(
        ([, name]) => `${path} ${name}`,
      ),
    )
    .filter((name) => !imported.has(name))
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
}
