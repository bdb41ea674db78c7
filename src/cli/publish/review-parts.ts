import type { Admission } from '../../admission/verdict.ts'
import { compareAccess } from '../../operations/policy/compare-access.ts'
import { diffDocument } from '../../operations/policy/diff-document.ts'
import { untrustedHead } from '../../operations/policy/versions.ts'
import type { PolicySettings } from '../../operations/policy-settings.ts'
import { nothing } from '../../operations/publish/open-proposal.ts'
import { signedHistory } from '../../operations/publish/recorded-moves.ts'
import type { Remark, ReviewParts } from '../../operations/publish/review.ts'
import type { PolicyStore } from '../../stores/policies/policy-store.ts'
import { printable } from '../format.ts'
import type { Io } from '../io.ts'
import { operator } from '../operator.ts'
import { formatAccess } from '../policy/access.ts'
import { formatFindings } from '../policy/findings.ts'
import { formatProposal } from './proposal-in-words.ts'

/** Of a first policy everything is new: a longer list is not read. */
const mostOfFirst = 1000

/** Compares for gateways with one configuration, and prints what people should know on the way. */
export function comparing(admission: Admission, io: Io): Pick<ReviewParts, 'compare' | 'tell'> {
  return {
    compare: (from, to) => compareAccess({ from, to }, admission, io),
    tell: (remark) => io.err(remarkInWords(remark)),
  }
}

/** What reviews and commits need of a configuration and of the person who runs the command. */
export function reviewParts(store: PolicyStore, settings: PolicySettings, io: Io): ReviewParts {
  const parts = comparing(settings.admission().admission, io)
  const recorded = () => signedHistory(settings, { cwd: io.cwd, tell: parts.tell })
  return { ...parts, store, trust: settings.trust(), recorded, actor: operator(io) }
}

function remarkInWords(remark: Remark): string {
  if ('note' in remark) return remark.note === '' ? '' : `${printable(remark.note)}\n`
  if ('warnings' in remark) return formatFindings('warning', remark.warnings)
  if ('live' in remark) return untrustedHead(remark.live)
  if ('proposal' in remark) return formatProposal(remark.proposal)
  const { set, diff } = remark.change
  if (typeof diff !== 'string')
    return formatAccess(diffDocument(diff), diff.from === nothing ? mostOfFirst : undefined)
  return `${diff}: all ${set.rules.length} rules and ${set.exclusions.length} exclusions are new\n`
}
