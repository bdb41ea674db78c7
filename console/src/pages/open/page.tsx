import type { PolicyOpen } from '#client'
import { Answered } from '../../components/answered.tsx'
import { Banner } from '../../components/banner.tsx'
import { Facts } from '../../components/facts.tsx'
import { Notes } from '../../components/notes.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import type { PageProps } from '../../pages.ts'
import { questions } from '../../questions.ts'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import { useAnswer } from '../../use-answer.ts'
import { Endpoints, Exclusions, OtherTokens, Routes } from './lists.tsx'
import { texts as bilingual } from './texts.ts'

/** Open endpoints: everything that needs no permission, for a review on screen or paper. */
export function Page({ query }: PageProps) {
  const texts = useTexts(bilingual)
  const { pages } = useTexts(commonTexts)
  const answer = useAnswer(...questions.open(query))
  return (
    <>
      <PageHeader title={pages.open} about={texts.about}>
        <button type="button" onClick={() => print()}>
          {texts.print}
        </button>
      </PageHeader>
      <Answered answer={answer}>{(value) => <Lists answer={value} />}</Answered>
    </>
  )
}

function Lists({ answer }: { answer: PolicyOpen }) {
  const texts = useTexts(bilingual)
  const common = useTexts(commonTexts)
  const { routes, exclusions, endpoints, otherTokens, areRoutesKnown } = answer
  const isIdle = ({ effect }: { readonly effect: string }) => effect === 'none'
  return (
    <>
      {!areRoutesKnown && <Banner kind="warning">{texts.unknownRoutes}</Banner>}
      <Facts
        of={[
          [common.policy, answer.policy],
          [common.revision, <code key="revision">{answer.revision}</code>],
        ]}
      />
      <Routes
        title={texts.public}
        about={texts.publicAbout}
        routes={routes.filter(({ need }) => need === 'nothing')}
      />
      <Routes
        title={texts.authenticated}
        about={texts.authenticatedAbout}
        routes={routes.filter(({ need }) => need === 'identity')}
      />
      <Exclusions
        title={texts.exclusions}
        about={texts.exclusionsAbout}
        exclusions={exclusions.filter((each) => !isIdle(each))}
      />
      <Endpoints endpoints={endpoints} />
      {otherTokens !== null && otherTokens.length > 0 && <OtherTokens tokens={otherTokens} />}
      {exclusions.some(isIdle) && (
        <Exclusions title={texts.idle} exclusions={exclusions.filter(isIdle)} />
      )}
      <Notes of={answer.notes} />
    </>
  )
}
