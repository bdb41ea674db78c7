import { diffDocument } from '../../operations/policy/compare-access.ts'
import { whyNothing } from '../../operations/policy/replay-logs.ts'
import { tested, testNotes } from '../../operations/policy/run-tests.ts'
import { nothing } from '../../operations/publish/open-proposal.ts'
import type { Remark } from '../../operations/publish/review.ts'
import { formatReplay } from '../evidence/replay/replay-in-words.ts'
import { printable } from '../format.ts'
import { formatAccess } from '../policy/access.ts'
import { formatFindings } from '../policy/findings.ts'
import { formatReport } from '../policy/test-view.ts'
import { noteLines } from '../view.ts'
import { formatProposal } from './proposal-in-words.ts'
import { formatObstacle, formatReplicas, formatShadow, formatTotals } from './shadow-in-words.ts'

/** Of a first policy everything is new: a longer list is not read. */
const mostOfFirst = 1000

/** What a review found, for the person who decides about it. */
export function remarksInWords(remarks: readonly Remark[]): string {
  return remarks.map(inWords).join('')
}

function inWords(remark: Remark): string {
  if ('note' in remark) return remark.note === '' ? '' : line(remark.note)
  if ('refusal' in remark) return refused(remark.refusal)
  if ('errors' in remark) return formatFindings('error', remark.errors)
  if ('warnings' in remark) return formatFindings('warning', remark.warnings)
  if ('proposal' in remark) return formatProposal(remark.proposal)
  if ('obstacles' in remark) {
    return remark.obstacles.map((each) => refused(formatObstacle(each, remark.terms))).join('')
  }
  if ('shadow' in remark) {
    const { evidence } = remark.shadow
    return `${formatShadow(remark.shadow)}${formatTotals(evidence)}${formatReplicas(evidence.replicas)}`
  }
  if ('replay' in remark) {
    const { replay } = remark
    const none = replay.asked === 0 ? line(`note: ${whyNothing(replay)}`) : ''
    return `${formatReplay(replay, replay.revision)}${none}`
  }
  if ('tests' in remark) {
    const { tests, directory, about, isUntested } = remark
    const report = isUntested ? untested(directory) : formatReport(directory, tested(tests))
    return `${noteLines(testNotes(tests, about))}${report}`
  }
  const { set, diff } = remark.change
  if (typeof diff !== 'string') {
    return formatAccess(diffDocument(diff), diff.from === nothing ? mostOfFirst : undefined)
  }
  return `${diff}: all ${set.rules.length} rules and ${set.exclusions.length} exclusions are new\n`
}

function line(text: string): string {
  return `${printable(text)}\n`
}

function refused(why: string): string {
  return line(`postern: refused: ${why}`)
}

function untested(name: string): string {
  return refused(
    `${name} has no tests: add them to ${name}/tests/*_test.yaml, or publish without tests with --no-tests`,
  )
}
