import { didYouMean } from '../../kernel/suggest.ts'
import {
  namedSettings,
  patternEntries,
  rootSetting,
  type Setting,
  settingPaths,
} from '../schema/setting.ts'
import type { Report } from './report.ts'
import { type Tree, withValue } from './tree.ts'
import { parseYaml } from './yaml-tree.ts'

const PREFIX = /^POSTERN_/i
const FILE_SUFFIX = /_FILE$/i

export type Environment = Readonly<Record<string, string | undefined>>

/** The content of a file that holds a secret, or why it cannot be read. */
type ReadSecretFile = (path: string) => { readonly text: string } | { readonly why: string }

interface Variable {
  readonly name: string
  readonly text: string
  readonly path: readonly string[]
  readonly setting: Setting
  readonly isFile: boolean
}

/**
 * Overrides the file with `POSTERN_A__B` variables; `POSTERN_A__B_FILE` is the path of a file that
 * holds a secret. Reports unknown settings, and two variables for the same setting.
 */
export function overlayEnvironment(
  file: Tree,
  env: Environment,
  { readSecretFile, report }: { readSecretFile: ReadSecretFile; report: Report },
): Tree {
  const byPath = new Map<string, Variable>()

  for (const [name, text] of Object.entries(env).sort(byName)) {
    if (text === undefined || !PREFIX.test(name) || isNotASetting(name, text)) continue
    const variable = resolve(name, text)
    const key = variable?.path.join('.') ?? ''
    const other = byPath.get(key)
    if (variable === undefined) report.problemAt({ file: name }, unknownVariable(name))
    else if (other === undefined) byPath.set(key, variable)
    else report.problemAt({ file: name }, `${key} is already set by ${other.name}; keep one`)
  }

  // A variable for a section must not override one for a setting in it.
  const shallowFirst = [...byPath.values()].sort((a, b) => a.path.length - b.path.length)
  return shallowFirst.reduce((tree, variable) => {
    const key = variable.path.join('.')
    report.remember(key, { file: variable.name })
    const { tree: value, messages } = meaning(variable, readSecretFile)
    for (const message of messages) report.problem(key, `: ${message}`)
    return value === undefined ? tree : withValue(tree, variable.path, value)
  }, file)
}

function meaning(
  { name, text, setting, isFile }: Variable,
  readSecretFile: ReadSecretFile,
): { readonly tree?: Tree; readonly messages: readonly string[] } {
  if (isFile) {
    const content = readSecretFile(text)
    if ('why' in content) return { messages: [`file ${text} ${content.why}`] }
    return { tree: scalar(content.text, name), messages: [] }
  }
  // Not parsed as YAML: a secret may look like a number or start with a YAML indicator.
  if (setting.type === 'string') return { tree: scalar(text, name), messages: [] }

  const { tree, problems } = parseYaml(text, name, false)
  return tree ? { tree, messages: [] } : { messages: problems.map(({ message }) => message) }
}

function scalar(value: string, name: string): Tree {
  return { kind: 'scalar', value, place: { file: name } }
}

function resolve(name: string, text: string): Variable | undefined {
  const path: string[] = []
  let setting = rootSetting

  for (const part of name.replace(PREFIX, '').toLowerCase().split('__')) {
    const named = namedSettings(setting)
    const match = named.find(([key]) => key.toLowerCase() === part)
    const secret = named.find(
      ([key, child]) => child.writeOnly && `${key}_file`.toLowerCase() === part,
    )
    const custom = patternEntries(setting)
    if (match) [setting] = [match[1], path.push(match[0])]
    else if (secret) [setting] = [secret[1], path.push(secret[0])]
    else if (custom?.pattern.test(part)) [setting] = [custom.schema, path.push(part)]
    else return undefined
  }
  return { name, text, path, setting, isFile: setting.writeOnly === true && FILE_SUFFIX.test(name) }
}

function unknownVariable(name: string): string {
  const names = settingPaths().map((path) => `POSTERN_${path.replaceAll('.', '__').toUpperCase()}`)
  return `unknown setting${didYouMean(name, names) || '; "postern config schema" lists them all'}`
}

/**
 * Where commands find the file, the console to ask and their token there; and the variables that
 * Kubernetes adds to every pod for a Service whose name starts with postern, such as
 * `POSTERN_PORT=tcp://10.0.0.7:8000`.
 */
function isNotASetting(name: string, text: string): boolean {
  if (/^POSTERN_(?:CONFIG|GATEWAY(?:_TOKEN(?:_FILE)?)?)$/i.test(name)) return true
  if (name.includes('__')) return false
  if (/_SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)$/.test(name)) return true
  if (/_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(name)) return true
  return /_PORT$/.test(name) && /^(tcp|udp|sctp):\/\//.test(text)
}

function byName([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1
}
