import type { PolicyStore } from '../../stores/policies/policy-store.ts'
import { exitCodes } from '../exit-codes.ts'
import { count, jsonPieces } from '../format.ts'
import type { Io } from '../io.ts'
import { diffAsJson } from '../policy/diff-json.ts'
import { formatLost, formatUnexpected, noReplicas } from './convergence.ts'
import { type Publication, reviewChange } from './publish.ts'

interface RehearsalOptions {
  readonly output: 'text' | 'json'
  readonly allowLost: boolean
}

/**
 * Does what a publication does up to the question, and says what would follow. Returns the exit code
 * that the publication would have if every reporting replica loaded the policy.
 */
export async function rehearse(
  publication: Publication,
  { output, allowLost }: RehearsalOptions,
  { store, io }: { readonly store: PolicyStore; readonly io: Io },
): Promise<number> {
  const { set, engine, waitSeconds, replicas: expected } = publication
  const { revision } = set
  const { seen, isLive, diff, replay } = await reviewChange(publication, { store, io })
  const known = waitSeconds === undefined ? undefined : await store.replicas()
  const lost = known?.filter((each) => each.lost) ?? []
  const reporting = (known?.length ?? 0) - lost.length
  const isComplete = allowLost || (lost.length === 0 && reporting > 0)
  const isExpected = expected === undefined || reporting === expected
  const ok = known === undefined || (isComplete && isExpected)

  if (output === 'json') {
    const report = {
      dryRun: true,
      ok,
      revision,
      publishes: !isLive,
      parent: seen?.revision ?? null,
    }
    const replicas = known?.map(({ id, lost: isLost }) => ({ id, lost: isLost }))
    for (const piece of jsonPieces({
      ...report,
      diff: diff && diffAsJson(diff),
      replay,
      engine,
      replicas,
    }))
      io.out(piece)
    return ok ? exitCodes.done : exitCodes.no
  }
  if (known !== undefined) {
    io.err(known.length === 0 ? noReplicas : formatLost(lost))
    io.err(formatUnexpected({ replicas: known, lost, expected }))
  }
  const would = isLive
    ? 'publish nothing'
    : `publish ${revision} over ${seen?.revision ?? 'nothing'}`
  const then = known === undefined ? '' : ` and wait for ${count(reporting, 'replica')}`
  io.out(`dry run: would ${would}${then}${ok ? '' : ', then exit with 1'}\n`)
  return ok ? exitCodes.done : exitCodes.no
}
