import { join } from 'node:path'
import { clockWarning } from '../../fleet/clock-offset.ts'
import type { Answer, DocumentOf } from '../../operations/operation.ts'
import type { policyHistory } from '../../operations/policy/descriptions.ts'
import { convergedWords, convergenceOf } from '../../operations/publish/convergence.ts'
import type * as described from '../../operations/publish/descriptions.ts'
import type { ObservedShadow } from '../../operations/publish/observed-shadow.ts'
import type { ReviewedProposal } from '../../operations/publish/proposal-state.ts'
import type { ProposalsExtras } from '../../operations/publish/proposals.ts'
import type { ProposalExtras } from '../../operations/publish/propose.ts'
import type { StatusExtras } from '../../operations/publish/status.ts'
import { count, formatTable, json, jsonLine, jsonPieces, printable } from '../format.ts'
import { noteLines, type ViewOf } from '../view.ts'
import { formatBehind, formatLost, noReplicas } from './convergence-in-words.ts'
import { formatProposal, signaturesOf } from './proposal-in-words.ts'
import { remarksInWords } from './remark-in-words.ts'
import {
  formatCounts,
  formatDisagreements,
  formatPromotion,
  formatReplicas,
  formatShadow,
  formatTotals,
} from './shadow-in-words.ts'

/** What was published, and who uses it. */
function publishedText({ head, convergence }: DocumentOf<typeof described.policyRollback>) {
  if (convergence === undefined) return `${head.revision} is live; replicas not checked\n`
  const { problem } = convergence
  if (problem !== undefined) {
    return { out: '', err: `published, but cannot list the replicas: ${problem}\n` }
  }
  return { before: formatBehind(convergence), out: `${convergedWords(convergence)}\n`, err: '' }
}

export const policyRollbackView: ViewOf<typeof described.policyRollback> = {
  text: ({ document }) => publishedText(document),
}

export const policyPromoteView: ViewOf<typeof described.policyPromote> = {
  text: ({ document }) => ('obstacles' in document ? '' : publishedText(document)),
}

export const policyPushView: ViewOf<typeof described.policyPush> = {
  text({ document }) {
    if (!('shadow' in document)) return publishedText(document)
    const { replicas: all, shadow } = document
    if (all === undefined) return `${shadow.revision} is the shadow; replicas not checked\n`
    const replicas = all.filter(({ state }) => state !== 'ended')
    const others = replicas.filter(({ state }) => state !== 'evaluating')
    return {
      before: formatReplicas(others),
      out: `${replicas.length - others.length}/${replicas.length} evaluate ${shadow.revision}\n`,
      err: '',
    }
  },
}

export const policyProposeView: ViewOf<typeof described.policyPropose, ProposalExtras> = {
  text({ document: { revision }, shown }) {
    if (shown === undefined) return ''
    const by = shown.signer === undefined ? '' : `, signed by ${shown.signer}`
    return {
      out: `${printable(`proposed ${revision} over ${shown.over}${by}`)}\n`,
      err: `${shown.next}\n`,
    }
  },
}

export const policyApproveView: ViewOf<typeof described.policyApprove, string> = {
  text: ({ document: { signedBy, revision }, shown }) => ({
    out: `${printable(`${signedBy} signed ${revision}`)}\n`,
    err: `${shown}\n`,
  }),
}

export const policyProposalDropView: ViewOf<typeof described.policyProposalDrop> = {
  text: ({ document: { dropped } }) => `dropped the proposal of ${dropped}\n`,
}

export const policyProposalsView: ViewOf<typeof described.policyProposals, ProposalsExtras> = {
  text({ shown, notes = [] }) {
    if (shown === undefined) return ''
    if ('one' in shown) {
      return {
        before: remarksInWords(shown.remarks),
        out: formatProposal(shown.one),
        err: `${shown.next}\n`,
      }
    }
    const { list } = shown
    const none = list.length === 0 ? 'no proposals are open\n' : ''
    const out = list.length === 0 ? '' : formatTable([proposalTitles, ...list.map(proposalRow)])
    return { out, err: `${noteLines(notes)}${none}` }
  },
  json({ document, shown }) {
    const remarks = shown !== undefined && 'one' in shown ? shown.remarks : []
    return { out: jsonPieces(document), err: remarksInWords(remarks) }
  },
}

const proposalTitles = ['REVISION', 'PROPOSED', 'STATE', 'SIGNATURES', 'AUTHOR', 'WHY']

function proposalRow(reviewed: ReviewedProposal): readonly string[] {
  const { author, at, message } = reviewed.statement
  const { revision } = reviewed.proposal
  return [revision, at, reviewed.state, signaturesOf(reviewed), author, message]
}

export const policyPullView: ViewOf<typeof described.policyPull, readonly string[]> = {
  text({ document: { revision, directory, written }, shown: names = [], notes = [] }) {
    const done =
      written === 0
        ? `${directory} is up to date`
        : `wrote ${count(written, 'file')} to ${directory}`
    const lines = (texts: readonly string[]) => texts.map((text) => `${text}\n`).join('')
    const err = lines(names.map((name) => join(directory, name)))
    return { before: lines(notes), out: `${revision}: ${done}\n`, err }
  },
}

export const policyStatusView: ViewOf<typeof described.policyStatus, StatusExtras> = {
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
      ...(rows.length > 0 ? [formatTable([replicaTitles, ...rows]).trimEnd()] : []),
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
    return { before: statusRemarks(answer), out: `${out.join('\n')}\n`, err: err.join('') }
  },
  json: (answer) => ({ before: statusRemarks(answer), out: jsonPieces(answer.document), err: '' }),
}

function statusRemarks({ shown, notes = [] }: Answer<unknown, StatusExtras>): string {
  const { forgotten } = shown ?? {}
  const forgot = forgotten === undefined ? '' : `forgot ${count(forgotten, 'replica')}\n`
  return `${forgot}${notes.map((note) => `${printable(note)}\n`).join('')}`
}

const replicaTitles = ['REPLICA', 'REVISION', 'STATE', 'REPORTED', 'VERSION']

type Replica = DocumentOf<typeof described.policyStatus>['replicas'][number]

function stateOf({ lost, stale, revision }: Replica, live: string | undefined): string {
  if (lost) return 'lost'
  if (stale) return 'stale'
  return revision === live ? 'current' : 'behind'
}

export const policyHistoryView: ViewOf<typeof policyHistory> = {
  text({ document, notes = [] }) {
    const rows = document.map((entry) => {
      const { at, revision, kind, author, signers, publisher, message, evidence } = entry
      const who = signers.length === 0 ? `${author} (unverified)` : `${signers.join(', ')} (signed)`
      const by = publisher === undefined ? '' : `, published by ${publisher}`
      return [at, revision, kind, who + by, message + formatPromotion(evidence)]
    })
    const nothing = rows.length === 0 ? 'nothing is published yet\n' : ''
    const out = rows.length === 0 ? '' : formatTable([historyTitles, ...rows])
    return { out, err: `${nothing}${noteLines(notes)}` }
  },
  json: ({ document, notes = [] }) => ({ out: json(document), err: noteLines(notes) }),
  jsonl: ({ document, notes = [] }) => {
    return { out: document.map(jsonLine).join(''), err: noteLines(notes) }
  },
}

const historyTitles = ['AT', 'REVISION', 'KIND', 'AUTHOR', 'WHY']

const noShadow = 'no shadow runs: push one with "postern policy push --shadow -m WHY"\n'

export const policyShadowView: ViewOf<typeof described.policyShadow, ObservedShadow> = {
  text({ shown: shadow }, { limit }) {
    if (shadow === undefined) return noShadow
    const { evidence } = shadow
    return [
      formatShadow(shadow),
      formatTotals(evidence),
      formatReplicas(evidence.replicas),
      formatDisagreements('deny', evidence, limit),
      formatDisagreements('allow', evidence, limit),
    ].join('')
  },
}

export const policyShadowEndView: ViewOf<typeof described.policyShadowEnd, boolean> = {
  text({ document, shown: isEnded, notes = [] }) {
    if (isEnded === undefined) return noShadow
    if (!isEnded) return { out: '', err: notes.map((note) => `${note}\n`).join('') }
    const { ended, evaluated } = document
    const counted =
      evaluated === undefined ? '' : ` after ${formatCounts(document as described.ShadowDocument)}`
    return `ended the shadow ${ended ?? 'that was not valid'}${counted}\n`
  },
  json: ({ document, notes = [] }) => ({
    out: jsonPieces(document),
    err: notes.map((note) => `${note}\n`).join(''),
  }),
}
