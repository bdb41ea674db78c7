import type { Covered } from './covered.ts'
import { detailOf, failsStrict } from './finding-words.ts'

/** The comparison as data for scripts. */
export function coveredJson(covered: Covered, notes: readonly string[]) {
  const { documents, coverage, findings, revision, policy, ok } = covered
  return {
    ok,
    revision,
    policy,
    documents: documents.map(({ name, version, operations }) => {
      return { name, version, operations: operations.length }
    }),
    findings: findings.map((finding) => {
      const { kind, operation, isForAll, isComplete, shown } = finding
      return {
        kind,
        failsStrict: failsStrict(kind),
        ...operation,
        values: isForAll ? 'all' : 'some',
        example: shown?.example ?? null,
        sampled: !isComplete,
        detail: detailOf(finding),
      }
    }),
    unmatched: coverage.unmatched.map(({ nearest, ...granted }) => {
      return { ...granted, nearest: nearest ?? null }
    }),
    prefixRules: coverage.prefixRules,
    operations: coverage.operations.map(({ operation, kinds, isComplete }) => {
      const access = kinds.map((kind) => ({ access: kind.access, example: kind.example }))
      return { ...operation, access, sampled: !isComplete }
    }),
    notes,
  }
}
