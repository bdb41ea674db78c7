import type { DocumentOf, InputOf } from '../../../operations/operation.ts'
import type { policyReplay } from '../../../operations/policy/evidence-descriptions.ts'
import type { ReplayExtras } from '../../../operations/policy/replay.ts'
import { printable } from '../../format.ts'
import type { Result } from '../../report/report.ts'
import reportRules from '../../report/rules.json' with { type: 'json' }
import { type ReportingOf, reportView } from '../../report/write.ts'
import { noteLines } from '../../view.ts'
import {
  type Change,
  changeInWords,
  formatReplay,
  limitsInWords,
  summaryOf,
} from './replay-in-words.ts'

type Document = DocumentOf<typeof policyReplay>
type FailOn = InputOf<(typeof policyReplay)['input']>['fail-on']

const unknown: ReplayExtras = { policy: '', files: [] }

const parts: ReportingOf<typeof policyReplay, ReplayExtras> = {
  before: ({ document }, _, output) => (output === 'json' ? '' : noteLines(document.notes)),
  text: ({ document, shown = unknown }) => formatReplay(document, shown.policy),
  err: ({ shown: { nothing } = unknown }) =>
    nothing === undefined ? '' : `postern: ${printable(nothing)}\n`,
  report({ document, shown: { policy, files } = unknown }, { 'fail-on': failOn }) {
    return {
      command: 'policy replay',
      verdict: verdictOf(document),
      summary: [
        `${policy}: ${summaryOf(document)}`,
        ...[...limitsInWords(document), ...document.notes].map((each) => `note: ${each}`),
      ],
      isUnanswered: document.asked === 0,
      failsAt: 'error',
      rules: reportRules['policy replay'],
      results: document.changes.map((change) => resultOf(change, failOn, files)),
    }
  },
}
export const policyReplayView = reportView(parts)

/** The result in a few words. */
function verdictOf({ asked, wouldDeny, wouldAllow }: Document): string {
  if (asked === 0) return 'nothing could be replayed'
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
