import type { PolicyTest } from '#client'
import { Problem } from '#client'
import { ErrorState } from '../../components/states.tsx'
import { lineOf } from '../../lib/rule-line.ts'
import { useTexts } from '../../texts/texts.ts'
import { Place } from './findings.tsx'
import type { Noted } from './marks.ts'
import { texts as bilingual } from './texts.ts'
import type { Review } from './use-review.ts'

interface TestsProps {
  readonly review: Review | undefined
  readonly onGo: (found: Noted) => void
}

/** What `policy test` says, and which lines no test covers. */
export function Tests({ review, onGo }: TestsProps) {
  const texts = useTexts(bilingual)
  if (review?.tests === undefined) return null
  return (
    <section>
      <h2>{texts.tests}</h2>
      {review.tests instanceof Problem ? (
        <ErrorState problem={review.tests} />
      ) : (
        <Tested tests={review.tests} onGo={onGo} />
      )}
    </section>
  )
}

const mostShown = 100

function Tested({ tests: answer, onGo }: { tests: PolicyTest; onGo: TestsProps['onGo'] }) {
  const texts = useTexts(bilingual)
  if ('errors' in answer) return null
  const { tests, failed, coverage } = answer
  const { rules, exclusions, percent } = coverage
  const uncovered = [...rules.undecided, ...exclusions.undecided].filter(
    ({ origin }) => origin.line > 0,
  )
  if (tests === 0) return <p>{texts.noTests}</p>
  return (
    <>
      <p role="status">
        <span class={`tag ${failed === 0 ? 'yes' : 'no'}`}>
          {failed === 0 ? texts.passed(tests) : texts.failed(failed, tests)}
        </span>
      </p>
      <p>
        {texts.coverage(percent)}{' '}
        <span class="detail">
          {texts.covered(rules.decided, rules.total, exclusions.decided, exclusions.total)}
        </span>
      </p>
      <meter class="meter" min={0} max={100} value={percent} aria-label={texts.coverage(percent)} />
      {uncovered.length > 0 && (
        <details>
          <summary>{texts.uncovered(uncovered.length)}</summary>
          <ul class="findings">
            {uncovered.slice(0, mostShown).map((granted) => (
              <li key={`${granted.origin.file} ${granted.origin.line}`} class="note">
                <Place found={{ ...granted.origin, kind: 'note', message: '' }} onGo={onGo} />{' '}
                <code>{lineOf(granted)}</code>
              </li>
            ))}
          </ul>
          {uncovered.length > mostShown && <p>{texts.more(uncovered.length - mostShown)}</p>}
        </details>
      )}
    </>
  )
}
