import type { Granted } from '../../../answers/coverage/coverage.ts'
import type { OperationFinding } from '../../../answers/coverage/findings.ts'
import type { Operation } from '../../../openapi/document.ts'
import { count } from '../../format.ts'
import type { Report, ReportRule, Result } from '../../report/report.ts'
import { type Covered, grantText } from './covered.ts'
import { detailOf, failsStrict, kindWords } from './finding-words.ts'
import { summaryLines } from './text.ts'

const ids = {
  public: 'operation-public',
  authenticated: 'operation-unchecked',
  refused: 'operation-refused',
  unserved: 'operation-without-route',
  admin: 'operation-admin-only',
  some: 'operation-some-values',
  undecided: 'operation-not-checked',
} as const

const rules: Readonly<Record<string, ReportRule>> = {
  'operation-public': {
    summary: 'An operation declares security, but needs no token.',
    help: 'Every client can call it. Change the access of its route, or declare "security: []" in the document.',
  },
  'operation-unchecked': {
    summary: 'An operation declares security, but needs no permission.',
    help: 'Every caller with a valid token can call it, whatever the role. Remove the exclusion, or give the route the access "permitted".',
  },
  'operation-refused': {
    summary: 'The gateway refuses an operation to every caller.',
    help: 'The path or the method is reserved or ambiguous. Rename the operation, or remove it from the document.',
  },
  'operation-without-route': {
    summary: 'No route serves an operation.',
    help: 'Callers get 404. Add a route to the configuration, or give the base path with --base.',
  },
  'operation-admin-only': {
    summary: 'Only the role admin may call an operation.',
    help: 'Add a rule for the roles that need it, or accept that only admin may call it.',
  },
  'operation-some-values': {
    summary: 'Roles may call an operation with some values of its parameters only.',
    help: 'Check that the rules name the values that they should.',
  },
  'operation-not-checked': {
    summary: 'An operation was not checked.',
    help: 'Casbin evaluates this model, and every decision takes time for every rule.',
  },
  'rule-without-operation': {
    summary: 'A rule or exclusion matches no operation.',
    help: 'It may be mistyped or outdated.',
  },
  'rule-of-other-paths': {
    summary: 'A rule or exclusion is for other paths than those of the documents.',
    help: 'It probably belongs to a service whose document you did not give.',
  },
  'rule-with-prefix': {
    summary: 'A rule ends in "*".',
    help: 'It also matches operations that do not exist yet.',
  },
}

/** The comparison for the formats that CI systems read. */
export function coverageReport(covered: Covered): Report {
  const { findings, coverage, isStrict, ok } = covered
  const failing = findings.filter(({ kind }) => failsStrict(kind)).length
  return {
    command: 'policy coverage',
    verdict:
      failing === 0 ? 'every operation has callers' : `${count(failing, 'operation')} to look at`,
    summary: summaryLines(covered),
    failsAt: isStrict && !ok ? 'warning' : 'error',
    rules,
    results: [
      ...findings.map(findingResult),
      ...coverage.unmatched.map((granted): Result => {
        const { nearest, isOutside } = granted
        const hint = nearest === undefined ? '' : `; nearest: ${nearest.method} ${nearest.path}`
        const message = `${grantText(granted)} matches no operation${hint}`
        return {
          rule: isOutside ? 'rule-of-other-paths' : 'rule-without-operation',
          level: 'note',
          message,
          ...placeOf(granted, covered),
        }
      }),
      ...coverage.prefixRules.map((granted): Result => {
        const message = `${grantText(granted)} matches ${count(granted.operations, 'operation')}`
        return { rule: 'rule-with-prefix', level: 'note', message, ...placeOf(granted, covered) }
      }),
    ],
  }
}

function findingResult(finding: OperationFinding<Operation>): Result {
  const { kind, operation } = finding
  const detail = detailOf(finding)
  const call = `${operation.method} ${operation.path}`
  return {
    rule: ids[kind],
    level: failsStrict(kind) ? 'warning' : 'note',
    message: `${call} ${kindWords[kind].one}${detail === '' ? '' : ` (${detail})`}`,
    ...operation.origin,
    text: call,
  }
}

/** A published policy has lines, but no files here. */
function placeOf({ origins: [first] }: Granted, { hasFiles }: Covered): Partial<Result> {
  return hasFiles && first !== undefined ? { file: first.file, line: first.line } : {}
}
