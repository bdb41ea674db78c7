import type { Problem } from '../../kernel/errors.ts'
import { quote } from '../rule/rule.ts'

/** One `key = value` of a model file, continuation lines joined. */
interface ModelEntry {
  readonly value: string
  readonly line: number
}

/** The entries of a model file as `section.key`, and where each section begins. */
export type ModelConf = ReturnType<typeof readModelConf>

/** The keys that casbin gives a meaning; a second request, policy or matcher it never asks. */
const keysOfSection: ReadonlyMap<string, RegExp> = new Map([
  ['request_definition', /^r$/],
  ['policy_definition', /^p$/],
  ['role_definition', /^g(?:[2-9]|[1-9]\d)?$/],
  ['policy_effect', /^e$/],
  ['matchers', /^m$/],
])

/**
 * Reads the lines of a casbin model file: `[section]`, `key = value`, `#` and `;` comments, `\` at
 * the end of a line that goes on. Reports whatever casbin would overwrite or pass over in silence.
 */
export function readModelConf(
  file: { readonly name: string; readonly text: string },
  report: (problem: Problem) => void,
) {
  const entries = new Map<string, ModelEntry>()
  const sections = new Map<string, number>()
  let section: string | undefined
  let pending = ''

  const complain = (line: number, message: string) => report({ file: file.name, line, message })

  const take = (text: string, line: number) => {
    const equals = text.indexOf('=')
    const key = text.slice(0, equals).trim()
    const value = text.slice(equals + 1).trim()
    if (equals === -1 || key === '' || value === '') {
      return complain(line, `${quote(text)} is neither "[section]" nor "key = value"`)
    }
    if (section === undefined)
      return complain(line, `${quote(key)} appears before the first [section]`)

    if (keysOfSection.get(section)?.test(key) === false) {
      return complain(line, `unknown key ${quote(key)} in [${section}]`)
    }
    const name = `${section}.${key}`
    if (entries.has(name)) return complain(line, `${quote(key)} is defined twice in [${section}]`)
    entries.set(name, { value, line })
  }

  const lines = file.text.replace(/^\uFEFF/, '').split('\n')
  for (const [index, raw] of lines.entries()) {
    const line = index + 1
    const text = raw.replace(/[#;].*$/s, '').trim()

    if (text.startsWith('[') && text.endsWith(']')) {
      if (pending !== '') take(pending, line - 1)
      pending = ''
      section = text.slice(1, -1).trim()
      if (!keysOfSection.has(section))
        complain(
          line,
          `unknown section ${quote(section)}: use ${[...keysOfSection.keys()].join(', ')}`,
        )
      if (sections.has(section)) complain(line, `duplicate section [${section}]`)
      sections.set(section, line)
    } else if (text.endsWith('\\')) {
      pending += `${text.slice(0, -1).trim()} `
    } else if (text !== '') {
      take(pending + text, line)
      pending = ''
    }
  }
  if (pending !== '') take(pending.trim(), lines.length)
  return { entries, sections }
}

/** The names of a definition, which are separated by commas. */
export function splitNames(text: string): string[] {
  return text.split(',').map((name) => name.trim())
}

/** Three distinct names, without `eft`, to which Casbin gives a meaning. */
function threeNames(names: readonly string[]): readonly [string, string, string] | undefined {
  const [role, path, method, ...more] = names
  if (role === undefined || path === undefined || method === undefined) return undefined
  if (more.length > 0 || names.includes('eft')) return undefined
  return areNames(names) ? [role, path, method] : undefined
}

/** The names of a request: role, path and method, or role, domain, path and method. */
export function requestNames(names: readonly string[]):
  | {
      readonly request: readonly [role: string, path: string, method: string]
      readonly domain?: string
    }
  | undefined {
  const [role, domain, ...others] = names
  if (names.length !== 4 || role === undefined || domain === undefined) {
    const request = threeNames(names)
    return request && { request }
  }
  const request = threeNames([role, ...others])
  return request && areNames(names) && domain !== 'eft' ? { request, domain } : undefined
}

/** Whether these are names, and all different. */
export function areNames(names: readonly string[]): boolean {
  return new Set(names).size === names.length && names.every((name) => /^[A-Za-z]\w*$/.test(name))
}
