import type { doctor } from '../../operations/doctor/descriptions.ts'
import { count, formatTable } from '../format.ts'
import type { ViewOf } from '../view.ts'

/** Of the words for a status. */
const longest = 'warning'.length

/** One line for each finding, and what to do about it below. */
export const doctorView: ViewOf<typeof doctor> = {
  text({ document: { checks, problems, warnings } }) {
    const rows = checks.map(({ status, check, message }) => [
      status.padEnd(longest),
      ...[check, message],
    ])
    const lines = formatTable(rows).split('\n')
    const indent = ' '.repeat(longest + 2)
    const found = checks.map(({ fix }, at) => {
      return `${lines[at]}\n${fix === undefined ? '' : `${indent}fix: ${fix}\n`}`
    })
    const verdict =
      problems === 0
        ? '"postern serve" would start and work'
        : 'fix the problems, then run "postern serve"'
    return `${found.join('')}\n${count(problems, 'problem')}, ${count(warnings, 'warning')}: ${verdict}\n`
  },
}
