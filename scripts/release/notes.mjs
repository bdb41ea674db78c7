import { readFileSync } from 'node:fs'
import { stop } from './stop.mjs'

/** The section of the changelog about this version; for a draft, what is not released yet. */
export function readNotes({ version, commit }, isDraft) {
  const sections = readFileSync('CHANGELOG.md', 'utf8').split(/^(?=## )/m)
  const dated = new RegExp(
    `^## \\[${version.replaceAll('.', '\\.')}\\] - \\d{4}-\\d{2}-\\d{2}$`,
    'm',
  )
  const isWanted = (text) => (isDraft ? text.startsWith('## [Unreleased]') : dated.test(text))
  const section = sections.find(isWanted)
  if (section === undefined) {
    stop(
      `CHANGELOG.md has no section "## [${version}] - DATE": rename Unreleased, or rehearse with --draft`,
    )
  }
  return `${section.trimEnd()}\n\nCommit ${commit}. Compare the files with SHA256SUMS.\n`
}
