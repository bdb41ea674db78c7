import type { PolicyStatus } from '#client'
import { Answered } from '../../components/answered.tsx'
import { Facts } from '../../components/facts.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { EmptyState } from '../../components/states.tsx'
import type { PageProps } from '../../pages.ts'
import { questions } from '../../questions.ts'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import { useAnswer } from '../../use-answer.ts'
import { Comparison } from './comparison.tsx'
import { History } from './history.tsx'
import { ProposalPage } from './proposal.tsx'
import { Proposals } from './proposals.tsx'
import { Shadow } from './shadow.tsx'
import { texts as bilingual } from './texts.ts'

/** What is live, what is proposed, and what happened: or one difference, or one proposal. */
export function Page({ query }: PageProps) {
  const { from = '', to = '', proposal = '' } = query
  if (proposal !== '') return <ProposalPage revision={proposal} />
  if (from !== '' && to !== '') return <Comparison from={from} to={to} />
  return <Published />
}

function Published() {
  const texts = useTexts(bilingual)
  const { pages } = useTexts(commonTexts)
  const answer = useAnswer(...questions.status())
  // Without Redis there is nothing that could be published.
  const isUnpublished = answer.problem?.status === 422
  return (
    <>
      <PageHeader title={pages.changes} about={texts.about} />
      {isUnpublished ? (
        <EmptyState title={texts.notPublished}>
          <p>{answer.problem?.message}</p>
        </EmptyState>
      ) : (
        <Answered answer={answer}>
          {(status) => (
            <>
              <Live status={status} />
              <Proposals />
              <Shadow signatures={status.signatures} onDone={answer.reload} />
              <History
                live={status.head?.revision}
                signatures={status.signatures}
                onDone={answer.reload}
              />
            </>
          )}
        </Answered>
      )}
    </>
  )
}

function Live({ status: { head, replicas, signatures } }: { status: PolicyStatus }) {
  const texts = useTexts(bilingual)
  const common = useTexts(commonTexts)
  if (head === null) return <EmptyState title={texts.nothingPublished} />
  const running = replicas.filter(({ lost }) => !lost)
  const current = running.filter(({ revision }) => revision === head.revision)
  return (
    <section>
      <h2>{texts.live}</h2>
      <Facts
        of={[
          [common.revision, <code key="revision">{head.revision}</code>],
          [texts.author, head.author],
          [texts.replicas, texts.onReplicas(current.length, running.length)],
          [texts.lost, replicas.length - running.length || undefined],
          [texts.approvals, signatures > 0 ? texts.signaturesNeeded(signatures) : undefined],
        ]}
      />
    </section>
  )
}
