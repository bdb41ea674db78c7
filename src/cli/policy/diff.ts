import { compareAccess } from '../../operations/policy/compare-access.ts'
import { diffDocument } from '../../operations/policy/diff-document.ts'
import { reportEngine, slowNote, slownessOf } from '../../operations/policy/engine-cost.ts'
import { isPublished, readVersions } from '../../operations/policy/versions.ts'
import { policySettings } from '../../operations/policy-settings.ts'
import type { Run } from '../command.ts'
import { exitCodes } from '../exit-codes.ts'
import { jsonPieces, printable } from '../format.ts'
import { renderReport } from '../report/write.ts'
import { formatAccess } from './access.ts'
import { diffReport } from './diff-report.ts'
import type { diffSpec } from './specs.ts'

/** Compares the access that two policies grant. */
export const policyDiff: Run<typeof diffSpec> = async (call, io) => {
  const {
    options,
    arguments: [from = 'live', to],
  } = call
  const settings = policySettings(options.config, io)
  const { admission, note } = settings.admission()
  const names = { from, to: to ?? settings.directory }
  const { from: before, to: after } = await readVersions(names, settings, io)

  const diff = compareAccess({ from: before.set, to: after.set }, admission, io)

  const engine = reportEngine(after.set, io)
  const slowness = slowNote(engine)

  const { output, 'this-gateway': onlyHere } = options
  if (output === 'json') {
    const { changes, ...about } = diffDocument(diff)
    const document = { ...about, engine, notes: note === undefined ? [] : [note], changes }
    for (const piece of jsonPieces(document)) io.out(piece)
  } else if (output === 'text') io.out(slowness + formatAccess(diff))
  else {
    if (output !== 'github') io.err(slowness + formatAccess(diff))
    const files = isPublished(after.name) ? [] : after.files.map(({ name }) => name)
    const notes = [note, slownessOf(engine)].filter((each) => each !== undefined)
    io.out(renderReport(diffReport(diff, { from, files, onlyHere, notes }), output, io))
  }
  if (note !== undefined && output !== 'json') io.err(`note: ${printable(note)}\n`)
  return (onlyHere ? diff.widenedHere : diff.widened) ? exitCodes.no : exitCodes.done
}
