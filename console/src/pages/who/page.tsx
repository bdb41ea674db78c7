import { useEffect, useState } from 'preact/hooks'
import type { Query } from '../../address.ts'
import { CallFields } from '../../components/access/call-fields.tsx'
import { Answered } from '../../components/answered.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { EmptyState } from '../../components/states.tsx'
import type { PageProps } from '../../pages.ts'
import { questions } from '../../questions.ts'
import { open } from '../../router.ts'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import { useAnswer } from '../../use-answer.ts'
import { useNames } from '../../use-names.ts'
import { Result } from './result.tsx'
import { texts as bilingual } from './texts.ts'

/** Who can? The roles and accounts that may make a call. */
export function Page({ query }: PageProps) {
  const texts = useTexts(bilingual)
  const { pages } = useTexts(commonTexts)
  const [operation, question] = questions.who(query)
  const answer = useAnswer(operation, question)
  return (
    <>
      <PageHeader title={pages.who} about={texts.about} />
      <CallForm query={query} />
      {operation === undefined ? (
        <EmptyState title={texts.start}>
          <p>{texts.startHint}</p>
        </EmptyState>
      ) : (
        <div class="block">
          <Answered answer={answer}>
            {(value) => <Result answer={value} question={question} />}
          </Answered>
        </div>
      )}
    </>
  )
}

function CallForm({ query }: { query: Query }) {
  const texts = useTexts(bilingual)
  const names = useNames()
  const [call, setCall] = useState(callIn(query))
  useEffect(() => setCall(callIn(query)), [query])
  const submit = (event: Event) => {
    event.preventDefault()
    const { host, revision } = query
    open('who', { ...call, path: call.path.trim(), host, revision })
  }
  return (
    <form class="form" onSubmit={submit}>
      <CallFields call={call} onCall={setCall} paths={names.paths} />
      <button type="submit" class="primary">
        {texts.ask}
      </button>
    </form>
  )
}

function callIn({ method = 'GET', path = '' }: Query) {
  return { method, path }
}
