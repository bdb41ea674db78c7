import type { ProposalInFull } from '#client'
import { addressOf } from '../../address.ts'
import { AccessDiff } from '../../components/access/access-diff.tsx'
import { Answered } from '../../components/answered.tsx'
import { Change, useMayChange } from '../../components/change.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { Facts } from '../../components/facts.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Time } from '../../components/time.tsx'
import { questions } from '../../questions.ts'
import { open } from '../../router.ts'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import { useAnswer } from '../../use-answer.ts'
import { signaturesInWords } from './proposals.tsx'
import { texts as bilingual } from './texts.ts'

/** One proposal with what it changes. */
export function ProposalPage({ revision }: { revision: string }) {
  const texts = useTexts(bilingual)
  const { pages } = useTexts(commonTexts)
  const answer = useAnswer<'policy/proposals', ProposalInFull>(...questions.proposal(revision))
  return (
    <>
      <PageHeader title={texts.proposal}>
        <a class="button" href={addressOf('changes')}>
          ← {pages.changes}
        </a>
      </PageHeader>
      <Answered answer={answer}>
        {(proposal) => (
          <>
            <About proposal={proposal} />
            <Steps proposal={proposal} />
            {proposal.diff !== undefined && <AccessDiff diff={proposal.diff} />}
          </>
        )}
      </Answered>
    </>
  )
}

function About({ proposal }: { proposal: ProposalInFull }) {
  const texts = useTexts(bilingual)
  const common = useTexts(commonTexts)
  const { tests, warnings } = proposal.evidence
  return (
    <Facts
      of={[
        [common.revision, <code key="revision">{proposal.revision}</code>],
        [texts.over, proposal.over && <code>{proposal.over}</code>],
        [texts.why, proposal.message],
        [texts.author, proposal.author],
        [texts.at, <Time key="at" at={proposal.at} />],
        [texts.state, texts.states[proposal.state]],
        [texts.signatures, signaturesInWords(proposal, texts)],
        [texts.evidence, tests && texts.evidenceInWords(tests.passed, tests.coverage, warnings)],
      ]}
    />
  )
}

/** Where the console changes things, an approver needs no access to Redis. */
function approval(revision: string, isThroughConsole: boolean): string {
  const gateway = isThroughConsole ? ` --gateway ${location.origin}` : ''
  return `postern policy approve ${revision} --key FILE${gateway}`
}

function Steps({ proposal: { revision, state, signers, needed } }: { proposal: ProposalInFull }) {
  const texts = useTexts(bilingual)
  const back = () => open('changes')
  const mayEdit = useMayChange('author')
  return (
    <>
      {state === 'stale' && <p class="block">{texts.stale}</p>}
      {state === 'open' && (
        <div class="block">
          <p>
            <strong>{texts.missing(needed - signers.length)}</strong> {texts.approveBy}
          </p>
          <CommandLine text={approval(revision, mayEdit)} />
        </div>
      )}
      <div class="actions block">
        {mayEdit && (
          <a class="button" href={addressOf('editor', { revision })}>
            {texts.edit}
          </a>
        )}
        {state === 'approved' && (
          <Change
            needs="publisher"
            label={texts.publish}
            title={texts.publishTitle}
            operation="policy/push"
            body={{ revision }}
            typed={revision}
            onDone={back}
          >
            <p>{texts.publishEffect}</p>
          </Change>
        )}
        <Change
          needs="author"
          label={texts.drop}
          title={texts.dropTitle}
          operation="policy/proposals"
          body={{ drop: revision }}
          typed={revision}
          onDone={back}
          isDanger
        >
          <p>{texts.dropEffect}</p>
        </Change>
      </div>
    </>
  )
}
