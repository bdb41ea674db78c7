import { resolve } from 'node:path'
import { coverOperations } from '../../../answers/coverage/coverage.ts'
import { findingOf } from '../../../answers/coverage/findings.ts'
import { Invalid } from '../../../kernel/errors.ts'
import { type OpenApiDocument, readOpenApi } from '../../../openapi/document.ts'
import { askedPolicy, policyName } from '../../../operations/policy/asked-policy.ts'
import { isPublished } from '../../../operations/policy/versions.ts'
import { type Run, UsageError } from '../../command.ts'
import { exitCodes } from '../../exit-codes.ts'
import { printable } from '../../format.ts'
import type { Io } from '../../io.ts'
import { datedJson } from '../../policy/dated-json.ts'
import { renderReport } from '../../report/write.ts'
import type { Covered } from './covered.ts'
import { bySeverity, failsStrict } from './finding-words.ts'
import { coveredJson } from './json.ts'
import { coverageReport } from './report.ts'
import type { coverageSpec } from './specs.ts'
import { formatCovered, notesOf } from './text.ts'

/** Compares OpenAPI documents with a policy, both ways. */
export const policyCoverage: Run<typeof coverageSpec> = async (call, io) => {
  const { options, arguments: names } = call
  const documents = await readDocuments(names, baseOf(options.base), io)
  const asked = await askedPolicy(options, io)
  const { policies, admission } = asked
  const operations = distinct(documents.flatMap((document) => document.operations))
  const coverage = coverOperations(operations, { admission, policies })
  const findings = bySeverity(coverage.operations.flatMap((access) => findingOf(access) ?? []))
  const isFailing = options.strict && findings.some(({ kind }) => failsStrict(kind))
  const covered: Covered = {
    documents,
    coverage,
    findings,
    policy: policyName(asked),
    revision: policies.revision,
    hasFiles: !isPublished(asked.name),
    ignored: documents.flatMap(({ notes }) => notes),
    isStrict: options.strict,
    ok: !isFailing,
  }
  const notes = [...notesOf(covered), ...asked.notes]
  if (options.output === 'json') io.out(datedJson(coveredJson(covered, notes)))
  else {
    for (const note of notes) io.err(`note: ${printable(note)}\n`)
    io.out(
      options.output === 'text'
        ? formatCovered(covered)
        : renderReport(coverageReport(covered), options.output, io),
    )
  }
  return isFailing ? exitCodes.no : exitCodes.done
}

/** Reads all documents, and reports the problems of all of them. */
async function readDocuments(
  names: readonly string[],
  base: string | undefined,
  io: Io,
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
  if (!base.startsWith('/'))
    throw new UsageError(`--base: ${JSON.stringify(base)} must start with "/"`)
  if (/[?#]/.test(base))
    throw new UsageError(`--base: ${JSON.stringify(base)} must be a path, without "?" and "#"`)
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
