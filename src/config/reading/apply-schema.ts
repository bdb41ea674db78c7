import { nearest } from '../../suggest.ts'
import {
  freeEntries,
  joinPath,
  namedSettings,
  type Setting,
  settingPaths,
} from '../schema/setting.ts'
import { checkScalar } from './check-scalar.ts'
import type { Report } from './report.ts'
import { isEmpty, type Tree } from './tree.ts'

/**
 * The value that a tree means under a schema, with every default filled in. Whatever does not fit
 * is reported and left out, so that the rest can still be looked at.
 */
export function applySchema(
  setting: Setting,
  tree: Tree | undefined,
  report: Report,
  path = '',
): unknown {
  if (tree !== undefined) report.remember(path, tree.place)

  if (setting.type === 'object') return applyMap(setting, tree, report, path)
  if (setting.type === 'array') return applyList(setting, tree, report, path)
  if (tree === undefined) return setting.default

  const complaint = checkScalar(setting, tree)
  if (complaint === undefined && tree.kind === 'scalar') return tree.value
  report.problem(path, `${path} ${complaint}`)
  return setting.default
}

function applyMap(setting: Setting, tree: Tree | undefined, report: Report, path: string) {
  const given = tree === undefined || isEmpty(tree) ? undefined : tree
  if (given !== undefined && given.kind !== 'map') {
    report.problem(path, `${path || 'the file'} must be a mapping: lines of the form key: value`)
  }
  const entries = given?.kind === 'map' ? given.entries : new Map<string, never>()
  const free = freeEntries(setting)
  const value: Record<string, unknown> = {}

  for (const [key, entry] of entries) {
    const childPath = joinPath(path, key)
    if (free?.form.test(key)) value[key] = applySchema(free.each, entry.tree, report, childPath)
    else if (free)
      report.problemAt(entry.place, `a name under ${path} is ill-formed. ${setting.description}`)
    else if (!Object.hasOwn(setting.properties ?? {}, key)) {
      report.problemAt(entry.place, unknownKey(setting, path, key))
    }
  }

  for (const [key, child] of namedSettings(setting)) {
    const entry = entries.get(key)
    const childPath = joinPath(path, key)
    const needed = child.default === undefined && setting.required?.includes(key)
    if (entry === undefined && needed) {
      if (!report.isBroken(path)) {
        report.problem(childPath, `${childPath} is missing. ${child.description}`)
      }
      continue
    }
    // A part that may be absent as a whole has no defaults of its own until somebody begins it.
    if (entry === undefined && child.type === 'object' && child.default === undefined) continue
    const childValue = applySchema(child, entry?.tree, report, childPath)
    if (childValue !== undefined) value[key] = childValue
  }
  return Object.freeze(value)
}

function applyList(setting: Setting, tree: Tree | undefined, report: Report, path: string) {
  const given = tree === undefined || (isEmpty(tree) && setting.default) ? undefined : tree
  if (given === undefined) return Object.freeze(structuredClone(setting.default))
  if (given.kind !== 'list') {
    report.problem(path, `${path} must be a list: lines of the form - value`)
    return Object.freeze(structuredClone(setting.default))
  }

  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY, items = {} } = setting
  if (given.items.length < minItems) report.problem(path, `${path} must have an entry`)
  if (given.items.length > maxItems) report.problem(path, `${path} can have ${maxItems} entries`)

  const values = given.items.map((item, index) =>
    applySchema(items, item, report, joinPath(path, index)),
  )
  if (setting.uniqueItems) {
    values.forEach((value, index) => {
      if (value === undefined || values.indexOf(value) === index) return
      const itemPath = joinPath(path, index)
      report.problem(itemPath, `${itemPath} repeats an earlier entry: keep one`)
    })
  }
  return Object.freeze(values)
}

function unknownKey(setting: Setting, path: string, key: string): string {
  const named = namedSettings(setting)
  const known = named.map(([name]) => name)
  const meant = nearest(key, known)
  const elsewhere = settingPaths().filter((other) => other.endsWith(`.${key}`))
  const likely = meant === undefined ? elsewhere : [joinPath(path, meant)]

  // `{ secret:abc }` is one key to YAML: beside a secret, an unknown key may be the secret itself.
  const maybeSecret = likely.length === 0 && named.some(([, child]) => child.writeOnly)
  const shown = maybeSecret || !/^\w[\w-]{0,39}$/.test(key) ? '' : ` ${joinPath(path, key)}`
  if (likely.length > 0) return `unknown setting${shown} (did you mean ${likely.join(' or ')}?)`
  return `unknown setting${shown}: ${path || 'the top level'} has ${known.join(', ')}`
}
