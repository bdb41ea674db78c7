import { formatDuration } from '../../operations/duration.ts'
import type {
  Disagreement,
  FleetEvidence,
  ObservedShadow,
  Obstacle,
  PromotionTerms,
  ReplicaEvidence,
  ShadowCounts,
  Would,
} from '../../operations/publish/observed-shadow.ts'
import { count, formatTable, printable } from '../format.ts'

/** Which shadow it is, who pushed it and why, and what it is compared with. */
export function formatShadow({ head, at, live, evidence }: ObservedShadow): string {
  const { revision, author, message } = head
  const lines = [
    printable(`shadow ${revision}, pushed by ${author} at ${at}: ${message}`),
    `live   ${live ?? 'nothing'}`,
  ]
  if (live === revision)
    lines.push(`note: ${revision} is live, so gateways compare nothing any more`)
  const earlier = evidence.against.filter((each) => each !== live)
  if (earlier.length > 0 && live !== revision) {
    lines.push(
      printable(
        `note: another revision became live meanwhile: the counts also compare with ${earlier.join(', ')}; to count against the live one only, end the shadow and push it again`,
      ),
    )
  }
  return `${lines.join('\n')}\n`
}

export function formatReplicas(replicas: readonly ReplicaEvidence[]): string {
  if (replicas.length === 0) return ''
  const isWhy = replicas.some((replica) => whyNot(replica) !== '')
  const titles = ['REPLICA', 'STATE', 'FOR', 'DECISIONS', 'WOULD DENY', 'WOULD ALLOW']
  const rows = replicas.map((replica) => {
    const { id, state, evaluatingMs, evaluated, wouldDeny, wouldAllow } = replica
    const time = evaluatingMs === 0 ? '-' : formatDuration(evaluatingMs)
    const counts = [evaluated, wouldDeny, wouldAllow].map((each) => each.toLocaleString('en-US'))
    return [id, state, time, ...counts, whyNot(replica)]
  })
  return formatTable([[...titles, isWhy ? 'WHY' : ''], ...rows])
}

function whyNot({ state, problem, version }: ReplicaEvidence): string {
  if (problem !== undefined) return problem
  return state === 'missing' ? `has not reported about it (version ${version})` : ''
}

const titles: Readonly<Record<Would, string>> = {
  deny: 'would deny requests that the live policy allows',
  allow: 'would allow requests that the live policy denies',
}

/** What the shadow would deny, or allow; empty when that is nothing. */
export function formatDisagreements(would: Would, evidence: FleetEvidence, most: number): string {
  const total = would === 'deny' ? evidence.wouldDeny : evidence.wouldAllow
  if (total === 0) return ''
  const groups = evidence.disagreements.filter((each) => each.would === would)
  const shown = groups.slice(0, most)
  const rows = shown.map((each) => [
    ...[each.role, each.method, each.count.toLocaleString('en-US'), each.first, each.last],
    ...[each.requestId, exampleOf(each), ruleOf(each)],
  ])
  const heads = ['ROLE', 'METHOD', 'REQUESTS', 'FIRST', 'LAST', 'LAST REQUEST', 'EXAMPLE', 'RULE']
  const rest = total - shown.reduce((sum, each) => sum + each.count, 0)
  const more = rest > 0 ? `  and ${count(rest, 'request')} that this list leaves out\n` : ''
  return `${titles[would]}:\n${formatTable([heads, ...rows], '  ')}${more}`
}

function exampleOf({ path, domain, userId }: Disagreement): string {
  const where = domain === undefined ? '' : `domain ${domain}`
  const user = userId === undefined ? '' : `user ${userId}`
  return [path ?? '', where, user].filter((each) => each !== '').join(', ') || '-'
}

/** The rule that the two differ by: the one that allows, unless the other side denies by a rule. */
function ruleOf({ would, live, shadow }: Disagreement): string {
  const [allowing, denying] = would === 'allow' ? [shadow, live] : [live, shadow]
  const isAllowing = denying.rule === undefined
  const { rule, step } = isAllowing ? allowing : denying
  const side = isAllowing === (would === 'allow') ? 'shadow' : 'live'
  return rule === undefined ? `${side}: ${step}` : `${side} ${rule.file}:${rule.line}: ${rule.text}`
}

/** One line that says why a shadow is not promoted. */
export function formatObstacle(obstacle: Obstacle, { afterMs }: PromotionTerms): string {
  switch (obstacle.kind) {
    case 'no-evidence':
      return 'the shadow has not been asked about any request yet'
    case 'would-deny':
      return `it would deny ${count(obstacle.count, 'request')} that the live policy allows, and --max-would-deny is ${obstacle.most}`
    case 'failed':
      return `its engine failed on ${count(obstacle.count, 'request')}`
    case 'too-short': {
      const { id, evaluatingMs } = obstacle.replica
      return `${id} has evaluated it for ${formatDuration(evaluatingMs)}, and --after is ${formatDuration(afterMs)}`
    }
    case 'lost':
      return `${obstacle.replica.id} is lost, and what it has seen since is unknown: add --allow-lost, or run "postern policy status --forget ${obstacle.replica.id}" if it no longer runs`
    case 'not-evaluating':
      return `${obstacle.replica.id} does not evaluate it: ${whyNot(obstacle.replica)}`
  }
}

/** `2 of 2 replicas evaluate it: 12 decisions, 1 would be denied, 0 would be allowed`. */
export function formatTotals(evidence: FleetEvidence): string {
  const running = evidence.replicas.filter(({ state }) => state !== 'ended')
  const evaluating = running.filter(({ state }) => state === 'evaluating')
  return `${evaluating.length} of ${count(running.length, 'replica')} ${evaluating.length === 1 ? 'evaluates' : 'evaluate'} it: ${formatCounts(evidence)}\n`
}

export function formatCounts({ evaluated, wouldDeny, wouldAllow, failed }: ShadowCounts): string {
  const failures = failed === 0 ? '' : `, failed on ${failed.toLocaleString('en-US')}`
  return `${count(evaluated, 'decision')}, ${wouldDeny.toLocaleString('en-US')} would be denied, ${wouldAllow.toLocaleString('en-US')} would be allowed${failures}`
}

/** What the history says about the shadow of a promotion; empty for other evidence. */
export function formatPromotion(evidence: Readonly<Record<string, unknown>> | undefined): string {
  if (evidence?.['kind'] !== 'shadow') return ''
  const number = (name: string) =>
    Number.isSafeInteger(evidence[name]) ? Number(evidence[name]) : 0
  const counts = {
    evaluated: number('evaluated'),
    wouldDeny: number('wouldDeny'),
    wouldAllow: number('wouldAllow'),
    failed: number('failed'),
  }
  const time = formatDuration(number('seconds') * 1000)
  return ` (shadow on ${count(number('replicas'), 'replica')} for ${time}: ${formatCounts(counts)})`
}
