import { join } from 'node:path'
import type { DocumentOf } from '../../operations/operation.ts'
import { convergedWords } from '../../operations/publish/convergence.ts'
import type * as described from '../../operations/publish/descriptions.ts'
import type { ReviewedProposal } from '../../operations/publish/proposal-state.ts'
import type { ProposalsExtras } from '../../operations/publish/proposals.ts'
import type { ProposalExtras } from '../../operations/publish/propose.ts'
import { count, formatTable, jsonPieces, printable } from '../format.ts'
import { noteLines, type ViewOf } from '../view.ts'
import { formatBehind } from './convergence-in-words.ts'
import { formatProposal, signaturesOf } from './proposal-in-words.ts'
import { remarksInWords } from './remark-in-words.ts'
import { formatReplicas } from './shadow-in-words.ts'

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
