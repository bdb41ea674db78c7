import { useState } from 'preact/hooks'
import { ErrorState } from '../../components/states.tsx'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import type { Noted } from './marks.ts'
import { texts as bilingual } from './texts.ts'
import type { Review } from './use-review.ts'

interface FindingsProps {
  readonly review: Review | undefined
  readonly noted: readonly Noted[]
  readonly onGo: (found: Noted) => void
}

/** More than a person reads; they fix the first ones and check again. */
const rowsAtOnce = 50

/** What `policy check` says, and failed tests. Each message leads to its line. */
export function Findings({ review, noted, onGo }: FindingsProps) {
  const texts = useTexts(bilingual)
  const { showMore } = useTexts(commonTexts)
  const [shown, setShown] = useState(rowsAtOnce)
  if (review?.problem !== undefined) return <ErrorState problem={review.problem} />
  if (review?.check === undefined) return null
  const { rules = 0, roles = 0, exclusions = 0 } = review.check
  const errors = noted.filter(({ kind }) => kind === 'error').length
  return (
    <section>
      <h2>{texts.messages}</h2>
      <p role="status">
        {errors > 0 ? (
          <span class="tag no">{texts.errors(errors)}</span>
        ) : (
          <>
            <span class="tag yes">{texts.valid}</span> {texts.content(rules, roles, exclusions)}
          </>
        )}{' '}
        {noted.length > errors && (
          <span class="tag part">{texts.warnings(noted.length - errors)}</span>
        )}
      </p>
      <ul class="findings">
        {noted.slice(0, shown).map((found, at) => (
          <li key={at} class={found.kind}>
            <Place found={found} onGo={onGo} /> {found.message}{' '}
            {found.code !== undefined && <code class="detail">{found.code}</code>}
          </li>
        ))}
      </ul>
      {noted.length > shown && (
        <button type="button" class="small" onClick={() => setShown(shown + rowsAtOnce)}>
          {showMore(Math.min(rowsAtOnce, noted.length - shown))}
        </button>
      )}
    </section>
  )
}

interface PlaceProps {
  readonly found: Noted
  readonly onGo: (found: Noted) => void
}

/** Leads to the line; a message about the draft as a whole has none. */
export function Place({ found, onGo }: PlaceProps) {
  const { file, line } = found
  if (file === undefined) return null
  if (line === undefined || line === 0) return <span class="mono">{file}</span>
  return (
    <button type="button" class="quiet mono place" onClick={() => onGo(found)}>
      {`${file}:${line}`}
    </button>
  )
}
