import { resolve } from 'node:path'
import { routeLabel } from '../../admission/route-label.ts'
import { type Coverage, coverOperations } from '../../answers/coverage/coverage.ts'
import {
  type FindingKind,
  findingOf,
  type OperationFinding,
} from '../../answers/coverage/findings.ts'
import { formatProblem, Invalid, type Problem } from '../../kernel/errors.ts'
import { type OpenApiDocument, type Operation, readOpenApi } from '../../openapi/document.ts'
import { placeOf } from '../../policy/review/finding.ts'
import type { Surroundings } from '../context.ts'
import { InvalidInput } from '../invalid-input.ts'
import type { RunOf } from '../operation.ts'
import type { policyCoverage } from './check-descriptions.ts'
import { findPolicy, policyName } from './policy-query.ts'
import { isPublished } from './versions.ts'

type Finding = OperationFinding<Operation>

/** What texts and reports show besides. */
export interface CoverageExtras {
  /** What all paths of the documents start with. */
  readonly commonPath: string
  /** Whether the policy comes from a directory, so that its lines have files. */
  readonly hasFiles: boolean
}

/** Compares OpenAPI documents with a policy, both ways. */
export const run: RunOf<typeof policyCoverage, CoverageExtras> = async (input, context) => {
  const documents = await readDocuments(input.document, baseOf(input.base), context)
  const query = await findPolicy({ ...input, config: context.configFile }, context)
  const { policies, admission } = query
  const operations = distinct(documents.flatMap((document) => document.operations))
  const coverage = coverOperations(operations, { admission, policies })
  const findings = bySeverity(coverage.operations.flatMap((access) => findingOf(access) ?? []))
  const ok = !(input.strict && findings.some(({ kind }) => failsStrict(kind)))
  const ignored = documents.flatMap(({ notes }) => notes)
  return {
    document: {
      ...{ ok, revision: policies.revision, policy: policyName(query) },
      documents: documents.map(({ name, version, operations: described }) => {
        return { name, version, operations: described.length }
      }),
      findings: findings.map((finding) => ({
        ...{ kind: finding.kind, failsStrict: failsStrict(finding.kind), ...finding.operation },
        ...({ values: finding.isForAll ? 'all' : 'some' } as const),
        ...{ example: finding.shown?.example ?? null, sampled: !finding.isComplete },
        detail: detailOf(finding),
      })),
      unmatched: coverage.unmatched.map(({ nearest, ...granted }) => {
        return { ...granted, nearest: nearest ?? null }
      }),
      prefixRules: coverage.prefixRules,
      operations: coverage.operations.map(({ operation, kinds, isComplete }) => {
        const access = kinds.map((kind) => ({ access: kind.access, example: kind.example }))
        return { ...operation, access, sampled: !isComplete }
      }),
      notes: [...notesOf(ignored, coverage, findings), ...query.notes],
    },
    outcome: ok ? 'done' : 'no',
    shown: { commonPath: coverage.commonPath, hasFiles: !isPublished(query.name) },
  }
}

/** Reads all documents, and reports the problems of all of them. */
async function readDocuments(
  names: readonly string[],
  base: string | undefined,
  io: Surroundings,
): Promise<readonly OpenApiDocument[]> {
  const readings = await Promise.allSettled(
    names.map((name) => readOpenApi({ path: resolve(io.cwd, name), name }, { base })),
  )
  const failures = readings.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
  const other = failures.find((error) => !(error instanceof Invalid))
  if (other !== undefined) throw other
  if (failures.length > 0) throw new Invalid(failures.flatMap(({ problems }: Invalid) => problems))
  return readings.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
}

/** Without a slash at its end, because each path starts with one. */
function baseOf(base: string | undefined): string | undefined {
  if (base === undefined) return undefined
  const shown = JSON.stringify(base)
  if (!base.startsWith('/')) throw new InvalidInput('base', `${shown} must start with "/"`)
  if (/[?#]/.test(base)) {
    throw new InvalidInput('base', `${shown} must be a path, without "?" and "#"`)
  }
  return base.replace(/\/+$/, '')
}

/** Two documents may describe the same operation: the first one counts. */
function distinct<Op extends { readonly method: string; readonly path: string }>(
  operations: readonly Op[],
): readonly Op[] {
  const seen = new Map(
    operations.toReversed().map((each) => [`${each.method} ${each.path}`, each] as const),
  )
  return operations.filter((each) => seen.get(`${each.method} ${each.path}`) === each)
}

const kinds: readonly FindingKind[] = [
  ...(['public', 'authenticated', 'refused', 'unserved', 'admin', 'some', 'undecided'] as const),
]

/** The most severe first, otherwise in the order of the documents. */
function bySeverity(findings: readonly Finding[]): readonly Finding[] {
  return findings.toSorted((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind))
}

/** Whether a pipeline with --strict fails on this kind. */
function failsStrict(kind: FindingKind): boolean {
  return kind !== 'some' && kind !== 'undecided'
}

/** Why it is so, and for which values. */
function detailOf(finding: Finding): string {
  const { shown, isForAll, kind, operation, isComplete } = finding
  const isTemplate = operation.path.includes('{')
  const about = [
    ...(shown === undefined ? [] : reasonOf(finding)),
    ...(shown === undefined || isForAll || !isTemplate
      ? []
      : [`for ${kind === 'some' ? 'other' : 'some'} values, such as ${shown.example}`]),
    ...(isComplete || kind === 'undecided' ? [] : ['sampled']),
  ]
  return about.join(', ')
}

function reasonOf({ kind, shown }: Finding): readonly string[] {
  if (shown === undefined) return []
  const { verdict, exclusion, access } = shown
  if (kind === 'some') return [`${someWords[access] ?? access}`]
  if (kind === 'refused') return [verdict.refusal ?? '']
  if (kind !== 'public' && kind !== 'authenticated') return []
  if (verdict.endpoint !== undefined) return [`own endpoint ${verdict.endpoint.name}`]
  if (exclusion !== undefined) return [`exclusion ${placeOf(exclusion.origin)}`]
  if (verdict.route !== undefined)
    return [`route ${routeLabel(verdict.route)}, access ${verdict.route.access}`]
  return []
}

const someWords: Readonly<Record<string, string>> = {
  admin: 'admin only',
  unserved: 'no route',
  refused: 'refused',
}

const maxIgnored = 20

/** What the answer does not consider. */
function notesOf(
  ignored: readonly Problem[],
  coverage: Coverage<Operation>,
  findings: readonly Finding[],
): readonly string[] {
  return [
    ...ignored.slice(0, maxIgnored).map(formatProblem),
    ...(ignored.length > maxIgnored
      ? [`${ignored.length - maxIgnored} more fields are ignored`]
      : []),
    ...(isAllUnserved(coverage)
      ? ['no operation has a route: if the paths lack their base path, give it with --base']
      : []),
    ...(coverage.areRulesCompared
      ? []
      : ['rules are not compared with operations: only Casbin knows which paths they match']),
    ...(findings.every(({ isComplete, kind }) => isComplete || kind === 'undecided')
      ? []
      : ['"sampled" operations were checked with some values of their parameters, not with all']),
  ]
}

function isAllUnserved({ operations }: Coverage<Operation>): boolean {
  return (
    operations.length > 0 && operations.every(({ kinds: [first] }) => first?.access === 'unserved')
  )
}
