import type { DocumentOf } from '../../operations/operation.ts'
import type { status } from '../../operations/running/descriptions.ts'
import { formatTable } from '../format.ts'
import type { ViewOf } from '../view.ts'

type Status = Exclude<DocumentOf<typeof status>, { readonly live: boolean }>

export const statusView: ViewOf<typeof status> = {
  text: ({ document }) => ('live' in document ? 'live\n' : formatTable(toRows(document))),
}

function toRows(status: Status): readonly (readonly string[])[] {
  const { version, mode, ready, problems, policy, configuration, workers } = status
  const why = problems.map(({ name, problem }) => `${name}: ${problem}`).join('; ')
  const rows = [
    ['version', version],
    ['mode', mode],
    ['ready', ready ? 'yes' : `no (${why})`],
    ['policy', policy.revision ?? '-'],
  ]
  if (workers !== undefined) rows.push(['workers', `${workers.listening} of ${workers.count}`])
  for (const { worker, problem } of workers?.outdated ?? []) {
    rows.push(['outdated', `worker ${worker} keeps an older configuration: ${problem}`])
  }
  if (configuration === undefined) return rows
  const { file, revision, since, problem, needRestart } = configuration
  rows.push(['configuration', `${revision} (${file}, since ${since})`])
  if (problem !== undefined) rows.push(['rejected', problem])
  if (needRestart.length > 0) rows.push(['needs restart', needRestart.join(', ')])
  return rows
}
