import { Answered } from '../../components/answered.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { EmptyState } from '../../components/states.tsx'
import type { PageProps } from '../../pages.ts'
import { questions } from '../../questions.ts'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import { useAnswer } from '../../use-answer.ts'
import { Comparison } from './comparison.tsx'
import { Explanation } from './explanation.tsx'
import { QuestionForm } from './form.tsx'
import { texts as bilingual } from './texts.ts'

/** Can they? Whether a caller may make a call, and why. */
export function Page({ query }: PageProps) {
  const texts = useTexts(bilingual)
  const { pages } = useTexts(commonTexts)
  const [operation, question] = questions.explain(query)
  const answer = useAnswer(operation, question)
  return (
    <>
      <PageHeader title={pages.can} about={texts.about} />
      <QuestionForm query={query} />
      {operation === undefined ? (
        <EmptyState title={texts.start}>
          <p>{texts.startHint}</p>
        </EmptyState>
      ) : (
        <div class="block">
          <Answered answer={answer}>
            {(value) => (
              <>
                <Explanation answer={value} query={query} />
                <Comparison answer={value} query={query} question={question} />
              </>
            )}
          </Answered>
        </div>
      )}
    </>
  )
}
