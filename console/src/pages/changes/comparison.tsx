import { addressOf } from '../../address.ts'
import { AccessDiff } from '../../components/access/access-diff.tsx'
import { Answered } from '../../components/answered.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { Notes } from '../../components/notes.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { questions } from '../../questions.ts'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import { useAnswer } from '../../use-answer.ts'
import { texts as bilingual } from './texts.ts'

/** What changed between two revisions, as what callers can do. */
export function Comparison({ from, to }: { from: string; to: string }) {
  const texts = useTexts(bilingual)
  const { pages } = useTexts(commonTexts)
  const answer = useAnswer(...questions.diff(from, to))
  return (
    <>
      <PageHeader title={texts.differenceTitle}>
        <CopyButton text={location.href} label={texts.copyLink} />
        <a class="button" href={addressOf('changes', { from: to, to: from })}>
          {texts.swap}
        </a>
        <a class="button" href={addressOf('changes')}>
          ← {pages.changes}
        </a>
      </PageHeader>
      <Answered answer={answer}>
        {(diff) => (
          <>
            <p>
              <code>{diff.from}</code> → <code>{diff.to}</code>
            </p>
            <AccessDiff diff={diff} />
            <Notes of={diff.notes ?? []} />
          </>
        )}
      </Answered>
    </>
  )
}
