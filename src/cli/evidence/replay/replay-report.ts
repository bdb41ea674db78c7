import type { Change } from '../../../replay/changes.ts'
import type { Replay } from '../../../replay/replay.ts'
import type { Report, Result } from '../../report/report.ts'
import { changeInWords, limitsInWords, summaryOf } from './replay-in-words.ts'

/** Which changes make the command fail. */
type FailOn = 'deny' | 'allow' | 'any' | undefined

const rules = {
  'replay-deny': {
    summary: 'Calls that gateways allowed would be denied.',
    help: 'The callers get a refusal as soon as the policy is published. Check that they should.',
  },
  'replay-allow': {
    summary: 'Calls that gateways denied would be allowed.',
    help: 'The callers have tried these calls already. Check that they should succeed.',
  },
} as const

/** Whether calls change in the way that the user wants to fail on. */
export function isFailed({ wouldDeny, wouldAllow }: Replay, failOn: FailOn): boolean {
  if (failOn === undefined) return false
  return (failOn !== 'allow' && wouldDeny > 0) || (failOn !== 'deny' && wouldAllow > 0)
}

/** The changes, for the formats that CI systems read. */
export function replayReport(replay: Replay, { policy, failOn, files, notes }: Reported): Report {
  const { changes } = replay
  return {
    command: 'policy replay',
    verdict: verdictOf(replay),
    summary: [
      `${policy}: ${summaryOf(replay)}`,
      ...[...limitsInWords(replay), ...notes].map((each) => `note: ${each}`),
    ],
    isUnanswered: replay.asked === 0,
    failsAt: 'error',
    rules,
    results: changes.map((change) => resultOf(change, failOn, files)),
  }
}

/** What is said about a replay besides its result. */
interface Reported {
  readonly policy: string
  readonly failOn: FailOn
  /** The files of the policy, if a reviewer can open them. */
  readonly files: readonly string[]
  readonly notes: readonly string[]
}

/** The result in a few words. */
function verdictOf({ asked, wouldDeny, wouldAllow }: Replay): string {
  if (asked === 0) return 'nothing could be asked'
  if (wouldDeny === 0 && wouldAllow === 0) return 'every recorded decision stays the same'
  const parts = [
    ...(wouldDeny === 0 ? [] : [`${wouldDeny.toLocaleString('en-US')} would be denied`]),
    ...(wouldAllow === 0 ? [] : [`${wouldAllow.toLocaleString('en-US')} would be allowed`]),
  ]
  return `of ${asked.toLocaleString('en-US')} recorded calls, ${parts.join(' and ')}`
}

function resultOf(change: Change, failOn: FailOn, files: readonly string[]): Result {
  const { result, now } = change
  const { calls, who, example, when, before, now: nowWords } = changeInWords(change)
  const origin = (now.rule ?? now.exclusion)?.origin
  return {
    rule: `replay-${result}`,
    level: failOn === 'any' || failOn === result ? 'error' : 'note',
    message: `${calls}: ${who}; before ${before}; now ${nowWords}; ${when}, for example ${example}`,
    text: `${who}; before ${before}; now ${nowWords}`,
    sign: result === 'allow' ? '+' : '-',
    ...(origin !== undefined && files.includes(origin.file) && origin),
  }
}
