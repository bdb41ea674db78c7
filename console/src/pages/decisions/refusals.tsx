import type { Denial, PolicyDenials } from '#client'
import { addressOf } from '../../address.ts'
import { CodeLine } from '../../components/access/code-line.tsx'
import { Answered } from '../../components/answered.tsx'
import { ChoiceField } from '../../components/live/choice-field.tsx'
import { Name } from '../../components/name.tsx'
import { Notes } from '../../components/notes.tsx'
import { EmptyState } from '../../components/states.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { formatNumber } from '../../lib/numbers.ts'
import type { PageProps } from '../../pages.ts'
import { open } from '../../router.ts'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import { useAnswer } from '../../use-answer.ts'
import { texts as bilingual } from './texts.ts'

const mostShown = 100
const usualSpan = '7d'

/** What was refused most often, and what the policy says about it now. */
export function Refusals({ query }: PageProps) {
  const texts = useTexts(bilingual)
  const common = useTexts(commonTexts)
  const since = query['since'] ?? usualSpan
  const asked = { since, limit: mostShown }
  const answer = useAnswer('policy/denials', asked, { isOptional: true })
  // Also when gateways have not counted anything yet.
  const isUnavailable = answer.problem?.status === 503
  const choices = Object.entries(texts.spans)
  return (
    <>
      <ChoiceField
        label={texts.since}
        name="since"
        value={since}
        choices={choices}
        onValue={(value) => open('decisions', { ...query, since: value })}
      />
      {isUnavailable ? (
        <EmptyState title={texts.noCounts}>
          <p>{answer.problem?.message}</p>
          <button type="button" onClick={answer.reload}>
            {common.retry}
          </button>
        </EmptyState>
      ) : (
        <Answered answer={answer}>{(value) => <Result answer={value} />}</Answered>
      )}
    </>
  )
}

function Result({ answer }: { answer: PolicyDenials }) {
  const texts = useTexts(bilingual)
  const { denials, refusals, others, left, notes } = answer
  if (refusals === 0) {
    return (
      <EmptyState title={texts.nothingRefused}>
        <p>{texts.nothingRefusedHint}</p>
      </EmptyState>
    )
  }
  return (
    <section>
      <div class="section-head">
        <h2>{texts.views.refusals}</h2>
        <p class="count">{texts.refusals(refusals)}</p>
      </div>
      <RefusalTable denials={denials} />
      {(left > 0 || others > 0) && <p class="detail block">{texts.more(left, others)}</p>}
      <Notes of={notes} />
    </section>
  )
}

function RefusalTable({ denials }: { denials: readonly Denial[] }) {
  const texts = useTexts(bilingual)
  const common = useTexts(commonTexts)
  const columns: readonly Column<Denial>[] = [
    {
      id: 'count',
      title: texts.count,
      isNumeric: true,
      cell: ({ count }) => formatNumber(count),
      sort: ({ count }) => count,
    },
    {
      id: 'role',
      title: texts.role,
      cell: ({ roleKey, domain }) => (
        <>
          <Name text={roleKey} />
          {domain !== undefined && <span class="detail"> {domain}</span>}
        </>
      ),
      sort: ({ roleKey }) => roleKey,
    },
    {
      id: 'call',
      title: texts.request,
      cell: (denial) => (
        <>
          <code>{denial.method}</code> <CallOf denial={denial} />
        </>
      ),
      sort: ({ path, route }) => path ?? route,
    },
    {
      id: 'last',
      title: texts.last,
      cell: ({ last }) => <Time at={last} />,
      sort: ({ last }) => last,
    },
    { id: 'now', title: texts.now, cell: (denial) => <Now denial={denial} /> },
    {
      id: 'explain',
      title: texts.explanation,
      cell: ({ roleKey: role, domain, method, path }) =>
        path !== undefined && (
          <a href={addressOf('can', { role, method, path, domain })}>{common.explain}</a>
        ),
    },
  ]
  return (
    <Table
      caption={texts.views.refusals}
      rows={denials}
      keyOf={(_, index) => index}
      columns={columns}
    />
  )
}

function CallOf({ denial: { path, route } }: { denial: Denial }) {
  const texts = useTexts(bilingual)
  if (path !== undefined) return <Name text={path} isCode />
  return <>{route === undefined ? texts.unrouted : texts.otherPaths(route)}</>
}

/** What the policy says now: a refusal may be old, and one line may end it. */
function Now({ denial }: { denial: Denial }) {
  const texts = useTexts(bilingual)
  const { allowedNow, isUnserved, rule, nearMisses, line } = denial
  const [nearest] = nearMisses
  if (allowedNow === undefined) return null
  return (
    <div class="stack">
      <p>
        <span class={`tag ${allowedNow ? 'yes' : 'no'}`}>
          {allowedNow ? texts.allowedNow : texts.stillDenied}
        </span>{' '}
        {isUnserved && <span class="detail">{texts.noRoute}</span>}
      </p>
      {rule !== undefined && (
        <p>
          {!allowedNow && <span class="detail">{texts.deniedBy} </span>}
          <CodeLine of={rule} />
        </p>
      )}
      {nearest !== undefined && (
        <p>
          <span class="detail">{texts.nearMiss} </span>
          <CodeLine of={nearest.rule} />
        </p>
      )}
      {line !== undefined && (
        <p>
          <span class="detail">{texts.wouldAllow} </span>
          <Name text={line} isCode />
        </p>
      )}
    </div>
  )
}
