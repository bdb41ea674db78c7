import { type Line, lineOf, placeOf } from '../../lib/rule-line.ts'
import { Name } from '../name.tsx'

interface CodeLineProps {
  readonly of: Line
  /** When it ends for the role, which may be sooner than the line itself says. */
  readonly until?: string | undefined
}

/** A line of a policy file with its place. */
export function CodeLine({ of, until = of.until }: CodeLineProps) {
  return (
    <span class="code-line">
      <span class="place">{placeOf(of.origin)}</span>
      <Name text={lineOf(of)} isCode />
      {until !== undefined && <span class="until">{until}</span>}
    </span>
  )
}
