import type { PolicyExplain } from '#client'
import { addressOf, type Query } from '../../address.ts'
import { CodeLine } from '../../components/access/code-line.tsx'
import { type Outcome, Verdict } from '../../components/access/verdict.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { Facts } from '../../components/facts.tsx'
import { Notes } from '../../components/notes.tsx'
import { Table } from '../../components/table.tsx'
import { callerKind } from '../../lib/call-question.ts'
import { policyTest } from '../../lib/policy-test.ts'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import { texts as bilingual } from './texts.ts'

interface ExplanationProps {
  readonly answer: PolicyExplain
  readonly query: Query
}

export function outcomeOf({ allowed, refusal }: PolicyExplain): Outcome {
  if (allowed) return 'allowed'
  return refusal === undefined ? 'denied' : 'refused'
}

/** A verdict with everything that helps to understand it. */
export function Explanation({ answer, query }: ExplanationProps) {
  const texts = useTexts(bilingual)
  const common = useTexts(commonTexts)
  const { roleKey, method, path, allowed, refused } = answer
  const { user, host } = query
  const caller = user ?? roleKey ?? texts.withoutToken
  return (
    <>
      <Verdict outcome={outcomeOf(answer)}>
        {refused ?? texts.sentence(caller, allowed, `${method} ${path}`)}
      </Verdict>
      <AnswerFacts answer={answer} isOfUser={callerKind(query) === 'user'} />
      <div class="actions block">
        <CopyButton text={location.href} label={common.copyLink} />
        <CopyButton
          text={policyTest({ roleKey, method, path, host, allowed })}
          label={texts.copyTest}
        />
        <a class="button" href={addressOf('who', { method, path, host })}>
          {texts.whoCan}
        </a>
      </div>
      <NearMisses answer={answer} />
      <Notes of={answer.notes} />
    </>
  )
}

/** Where the call goes and what decides on it. */
export function AnswerFacts({ answer, isOfUser }: { answer: PolicyExplain; isOfUser: boolean }) {
  const texts = useTexts(bilingual)
  const common = useTexts(commonTexts)
  const { route, access, upstream, endpoint, step, rule, exclusion, clause } = answer
  const where = route === null ? undefined : <code>{route}</code>
  return (
    <Facts
      of={[
        [texts.role, isOfUser ? answer.roleKey : undefined],
        [texts.endpoint, endpoint],
        [texts.route, answer.isUnserved ? texts.noRoute : where],
        [common.access, access === null ? undefined : texts.access[access]],
        [texts.upstream, upstream],
        [texts.step, texts.steps[step]],
        [texts.rule, rule && <CodeLine of={rule} />],
        [texts.rule, clause && <code>{clause}</code>],
        [texts.exclusion, exclusion && <CodeLine of={exclusion} />],
        [texts.reason, exclusion?.reason],
        [common.policy, answer.policy],
        [common.revision, answer.revision && <code>{answer.revision}</code>],
      ]}
    />
  )
}

function NearMisses({ answer: { nearMisses } }: { answer: PolicyExplain }) {
  const texts = useTexts(bilingual)
  const common = useTexts(commonTexts)
  if (nearMisses.length === 0) return null
  return (
    <section>
      <h2>{texts.nearMisses}</h2>
      <Table
        caption={texts.nearMisses}
        rows={nearMisses}
        keyOf={(_, index) => index}
        columns={[
          { id: 'line', title: common.line, cell: ({ rule }) => <CodeLine of={rule} /> },
          {
            id: 'differs',
            title: texts.difference,
            cell: ({ differs }) => texts.differs[differs],
            sort: ({ differs }) => texts.differs[differs],
          },
        ]}
      />
    </section>
  )
}
