import { dirname, isAbsolute, relative, resolve } from 'node:path'
import {
  formFor,
  namedSettings,
  patternEntries,
  rootSetting,
  type Setting,
} from '../schema/setting.ts'
import type { Tree } from './tree.ts'

/**
 * The tree of a file, with each relative path as seen from `cwd` instead of from the directory of the
 * file: a command means the same file from wherever it is run. Paths outside `cwd` become absolute.
 */
export function withPathsFrom(file: string, tree: Tree, cwd: string): Tree {
  const [base, here] = [dirname(file), resolve(cwd)]
  if (base === here) return tree
  return moved(rootSetting, tree, (path) => {
    if (isAbsolute(path)) return path
    const target = resolve(base, path)
    const seen = relative(here, target) || '.'
    return seen === '..' || seen.startsWith('../') || isAbsolute(seen) ? target : seen
  })
}

function moved(setting: Setting, tree: Tree, move: (path: string) => string): Tree {
  if (tree.kind === 'list') {
    const items = (formFor(setting, 'array') ?? setting).items
    return items === undefined
      ? tree
      : { ...tree, items: tree.items.map((item) => moved(items, item, move)) }
  }
  if (tree.kind === 'map') {
    const form = formFor(setting, 'object') ?? setting
    const named = new Map(namedSettings(form))
    const custom = patternEntries(form)?.schema
    const entries = [...tree.entries].map(([key, entry]) => {
      const child = named.get(key) ?? custom
      if (child === undefined) return [key, entry] as const
      return [key, { ...entry, tree: moved(child, entry.tree, move) }] as const
    })
    return { ...tree, entries: new Map(entries) }
  }
  const { isPath, noPath } = setting
  if (!isPath || typeof tree.value !== 'string' || tree.value === '') return tree
  if (noPath !== undefined && new RegExp(noPath, 'u').test(tree.value)) return tree
  return { ...tree, value: move(tree.value) }
}
