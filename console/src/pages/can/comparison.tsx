import { useId } from 'preact/hooks'
import type { PolicyExplain } from '#client'
import type { Query } from '../../address.ts'
import type { ParametersOf } from '../../api.ts'
import { Mark } from '../../components/access/verdict.tsx'
import { Answered } from '../../components/answered.tsx'
import { callerKind } from '../../lib/call-question.ts'
import { formatTime } from '../../lib/times.ts'
import { open } from '../../router.ts'
import { language } from '../../state/preferences.ts'
import { useStore } from '../../state/store.ts'
import { useTexts } from '../../texts/texts.ts'
import { useAnswer } from '../../use-answer.ts'
import { AnswerFacts, outcomeOf } from './explanation.tsx'
import { texts as bilingual } from './texts.ts'

interface ComparisonProps {
  readonly answer: PolicyExplain
  readonly query: Query
  readonly question: ParametersOf<'policy/explain'>
}

/** Policies in a directory have no history. */
function isPublished({ policy }: PolicyExplain): boolean {
  return policy === 'live' || policy?.startsWith('r-') === true
}

/** Asks the question at another revision. Only published policies have revisions to choose from. */
export function Comparison({ answer, query, question }: ComparisonProps) {
  const texts = useTexts(bilingual)
  const tag = useStore(language)
  const id = useId()
  const { other = '' } = query
  const history = useAnswer(
    isPublished(answer) ? 'policy/history' : undefined,
    { limit: 100 },
    { isOptional: true },
  )
  const then = useAnswer(other === '' ? undefined : 'policy/explain', {
    ...question,
    revision: other,
  })
  const entries = [...new Map((history.value ?? []).map((each) => [each.revision, each])).values()]
  if (entries.length === 0 && other === '') return null
  return (
    <section>
      <div class="field">
        <label for={id}>{texts.otherRevision}</label>
        <select
          id={id}
          class="fit"
          value={other}
          onChange={(event) => open('can', { ...query, other: event.currentTarget.value })}
        >
          <option value="">{texts.choose}</option>
          {entries.map(({ revision, at, author, message }) => (
            <option key={revision} value={revision}>
              {`${formatTime(tag, at)} · ${author} · ${message} · ${revision.slice(0, 14)}`}
            </option>
          ))}
          {other !== '' && !entries.some(({ revision }) => revision === other) && (
            <option value={other}>{other}</option>
          )}
        </select>
      </div>
      <Answered answer={then}>
        {(value) => (
          <div class="block">
            <p>
              <Mark outcome={outcomeOf(value)} />{' '}
              {value.allowed === answer.allowed ? texts.same : texts.different}
            </p>
            <AnswerFacts answer={value} isOfUser={callerKind(query) === 'user'} />
          </div>
        )}
      </Answered>
    </section>
  )
}
