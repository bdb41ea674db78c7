import { Problem } from '#client'
import { AccessDiff } from '../../components/access/access-diff.tsx'
import { ErrorState } from '../../components/states.tsx'
import { useTexts } from '../../texts/texts.ts'
import { texts as bilingual } from './texts.ts'
import type { Review } from './use-review.ts'

/** Who gains and loses what, compared with the live policy. */
export function Comparison({ review }: { review: Review | undefined }) {
  const texts = useTexts(bilingual)
  if (review?.check === undefined) return null
  const { check, diff } = review
  return (
    <section>
      <h2>{texts.difference}</h2>
      {check.errors.length > 0 ? (
        <p>{texts.fixFirst}</p>
      ) : diff === undefined ? null : diff instanceof Problem ? (
        <ErrorState problem={diff} />
      ) : (
        <AccessDiff diff={diff} isDraft />
      )}
    </section>
  )
}
