import { clockWarning } from '../../fleet/clock-offset.ts'
import type { Answer, DocumentOf } from '../../operations/operation.ts'
import { convergedWords, convergenceOf } from '../../operations/publish/convergence.ts'
import type { policyStatus } from '../../operations/publish/descriptions.ts'
import type { StatusExtras } from '../../operations/publish/status.ts'
import { count, formatTable, jsonPieces, printable } from '../format.ts'
import type { ViewOf } from '../view.ts'
import { formatLost, noReplicas } from './convergence-in-words.ts'
import { formatTotals } from './shadow-in-words.ts'

export const policyStatusView: ViewOf<typeof policyStatus, StatusExtras> = {
  text(answer) {
    const { head, replicas, shadow } = answer.document
    const { evidence } = answer.shown ?? {}
    const rows = replicas.map((replica) => {
      const { id, revision = '-', ageSeconds, version } = replica
      return [id, revision, stateOf(replica, head?.revision), `${ageSeconds} s ago`, version]
    })
    const name = shadow?.revision ?? 'that is not valid'
    const out = [
      head === null ? 'nothing is published yet' : convergedWords(convergenceOf(head, replicas)),
      ...(rows.length > 0 ? [formatTable([titles, ...rows]).trimEnd()] : []),
      ...replicas.flatMap(({ id, lastError }) =>
        lastError === undefined ? [] : [printable(`${id} last error: ${lastError}`)],
      ),
      ...(evidence ? [printable(`shadow ${name}: ${formatTotals(evidence)}`.trimEnd())] : []),
    ]
    const clocks = replicas.map(({ id, lost, facts }) =>
      lost ? '' : clockWarning(id, facts?.clock),
    )
    const err = [
      ...clocks.map((warning) => (warning === '' ? '' : `${printable(warning)}\n`)),
      replicas.length === 0 && head !== null ? noReplicas : '',
      formatLost(replicas.filter(({ lost }) => lost)),
    ]
    return { before: remarks(answer), out: `${out.join('\n')}\n`, err: err.join('') }
  },
  json: (answer) => ({ before: remarks(answer), out: jsonPieces(answer.document), err: '' }),
}

function remarks({ shown, notes = [] }: Answer<unknown, StatusExtras>): string {
  const { forgotten } = shown ?? {}
  const forgot = forgotten === undefined ? '' : `forgot ${count(forgotten, 'replica')}\n`
  return `${forgot}${notes.map((note) => `${printable(note)}\n`).join('')}`
}

const titles = ['REPLICA', 'REVISION', 'STATE', 'REPORTED', 'VERSION']

type Replica = DocumentOf<typeof policyStatus>['replicas'][number]

function stateOf({ lost, stale, revision }: Replica, live: string | undefined): string {
  if (lost) return 'lost'
  if (stale) return 'stale'
  return revision === live ? 'current' : 'behind'
}
