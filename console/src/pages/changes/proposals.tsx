import type { Proposal } from '#client'
import { addressOf } from '../../address.ts'
import { Answered } from '../../components/answered.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { questions } from '../../questions.ts'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import { useAnswer } from '../../use-answer.ts'
import { texts as bilingual } from './texts.ts'

/** The open proposals. */
export function Proposals() {
  const texts = useTexts(bilingual)
  const answer = useAnswer<'policy/proposals', readonly Proposal[]>(...questions.proposals())
  return (
    <section>
      <h2>{texts.proposals}</h2>
      <Answered answer={answer}>
        {(proposals) =>
          proposals.length === 0 ? (
            <p>{texts.noProposals}</p>
          ) : (
            <ProposalTable proposals={proposals} />
          )
        }
      </Answered>
    </section>
  )
}

function ProposalTable({ proposals }: { proposals: readonly Proposal[] }) {
  const texts = useTexts(bilingual)
  const common = useTexts(commonTexts)
  const columns: readonly Column<Proposal>[] = [
    { id: 'at', title: texts.at, cell: ({ at }) => <Time at={at} />, sort: ({ at }) => at },
    {
      id: 'revision',
      title: common.revision,
      cell: ({ revision }) => (
        <a class="mono" href={addressOf('changes', { proposal: revision })}>
          {revision}
        </a>
      ),
    },
    {
      id: 'state',
      title: texts.state,
      cell: ({ state }) => <span class={`tag ${tags[state]}`}>{texts.states[state]}</span>,
      sort: ({ state }) => state,
    },
    {
      id: 'signatures',
      title: texts.signatures,
      cell: (proposal) => signaturesInWords(proposal, texts),
    },
    {
      id: 'author',
      title: texts.author,
      cell: ({ author }) => author,
      sort: (each) => each.author,
    },
    { id: 'why', title: texts.why, cell: ({ message }) => message },
  ]
  return (
    <Table
      caption={texts.proposals}
      rows={proposals}
      keyOf={({ revision }) => revision}
      columns={columns}
    />
  )
}

const tags: Readonly<Record<Proposal['state'], string>> = {
  open: 'part',
  approved: 'yes',
  stale: 'no',
}

export function signaturesInWords(
  { signers, needed, otherSignatures }: Proposal,
  texts: typeof bilingual.en,
): string {
  if (needed === 0) return texts.notNeeded
  const signed = texts.signedBy(signers.length, needed, signers.join(', '))
  return otherSignatures === 0 ? signed : `${signed}, ${texts.otherSignatures(otherSignatures)}`
}
