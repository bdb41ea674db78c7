import { isScalar, isSeq } from 'yaml'
import type { Problem } from '../../kernel/errors.ts'
import { patternProblem } from '../rule/pattern.ts'
import { ANY_METHOD, type Exclusion, methodProblem } from '../rule/rule.ts'
import { parseTexts, textsOf } from '../rule/yaml-texts.ts'
import { createUntilComments, looksLikeUntil, onlyAboveLines } from './until-comments.ts'

/**
 * Reads the permission exclusion list: a YAML list of `method`, `path` and `reason`, all three in
 * each entry. Reports entries without a reason, without one explicit method, and with a path wide
 * enough to cover business endpoints, which then any logged-in caller could reach.
 */
export function parseExclusions(
  file: { readonly name: string; readonly text: string },
  report: (problem: Problem) => void,
): readonly Exclusion[] {
  const parsed = parseTexts(file, report)
  if (parsed === undefined) return []
  const { contents, placeOf, complain } = parsed
  if (contents === null) {
    exclusionExpiry(file, [], report)
    return []
  }
  if (!isSeq(contents)) {
    complain(
      undefined,
      'invalid exclusion list: write a YAML list of entries with method, path and reason',
    )
    return []
  }

  const { items } = contents
  const lineOf = (item: unknown) => placeOf(item).line
  const expiry = exclusionExpiry(file, items.map(lineOf), report)
  const exclusions: Exclusion[] = []
  for (const item of items) {
    const texts = textsOf(item, entryForm, complain)
    if (texts === undefined) continue
    const { method = '', path = '', reason = '' } = texts
    const entry = { method: method.trim(), path: path.trim(), reason: reason.trim() }
    const problems = entryProblems(entry)
    for (const problem of problems) complain(item, problem)
    if (problems.length > 0) continue
    const origin = Object.freeze({ file: file.name, line: lineOf(item) })
    const until = expiry.get(origin.line)
    exclusions.push(Object.freeze({ ...entry, origin, ...(until !== undefined && { until }) }))
  }
  return exclusions
}

type WrittenExclusion = Omit<Exclusion, 'origin'>

const entryForm = {
  keys: ['method', 'path', 'reason'] as const,
  form: 'invalid entry: write a mapping with method, path and reason',
  unknownKey: (key: unknown) =>
    isScalar(key) && key.value === 'until'
      ? 'unknown key: write "# postern: until 2026-12-01" on the line above the entry'
      : 'unknown key: use method, path and reason',
}

function entryProblems({ method, path, reason }: WrittenExclusion): readonly string[] {
  return [
    method === ANY_METHOD || method === ''
      ? 'method is required and must be a single method, for example "method: GET"'
      : methodProblem(method),
    path === '' ? 'path is required' : exclusionPathProblem(path),
    reason === '' ? 'reason is required: say why every logged-in caller may call this' : undefined,
  ].filter((problem) => problem !== undefined)
}

function exclusionPathProblem(path: string): string | undefined {
  if (path.includes('*')) {
    return '"*" is not allowed in an exclusion: every logged-in caller could call everything it matches'
  }
  const problem = patternProblem(path, { keyMatch: false, keyMatch2: true })
  if (problem !== undefined) return problem

  // Spec, Authentication 6: a parameter in place of the resource would exempt business endpoints.
  const [resource = ''] = path.replace(/^(\/api)?(\/v\d+)?\//, '').split('/')
  return resource.startsWith(':')
    ? `"${resource}" matches every resource: name the resource to exclude`
    : undefined
}

/**
 * Reads the comments `# postern: until TIME` of an exclusion list: the moment for each line on which
 * an entry begins. Goes by lines, because YAML attaches a comment to whatever follows it.
 */
function exclusionExpiry(
  { name, text }: { readonly name: string; readonly text: string },
  entryLines: readonly number[],
  report: (problem: Problem) => void,
): ReadonlyMap<number, number> {
  const found = new Map<number, number>()
  const comments = createUntilComments(name, report)
  for (const [index, raw] of text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .entries()) {
    const line = index + 1
    const content = raw.trim()
    if (content.startsWith('#')) {
      comments.take(content, line)
      continue
    }
    const hash = content.indexOf('#')
    if (hash !== -1 && looksLikeUntil(content.slice(hash))) {
      report({ file: name, line, message: onlyAboveLines })
    }
    // The mapping of an entry may begin on the line below its dash.
    if (content === '-') continue
    const isEntry = entryLines.filter((each) => each === line).length === 1
    if (!isEntry) comments.drop()
    else {
      const limit = comments.claim()
      if (limit !== undefined) found.set(line, limit.until)
    }
  }
  comments.drop()
  return found
}
