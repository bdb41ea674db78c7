import { useId, useState } from 'preact/hooks'
import type { HistoryEntry } from '#client'
import { addressOf } from '../../address.ts'
import { Answered } from '../../components/answered.tsx'
import { useMayChange } from '../../components/change.tsx'
import { EmptyState } from '../../components/states.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { questions } from '../../questions.ts'
import { open } from '../../router.ts'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import { useAnswer } from '../../use-answer.ts'
import { RevisionChange } from './revision-change.tsx'
import { texts as bilingual } from './texts.ts'

interface HistoryProps {
  /** The live revision. */
  readonly live: string | undefined
  /** How many signatures a policy needs. */
  readonly signatures: number
  readonly onDone: () => void
}

/** Every move of the live policy, newest first, each with the difference to the one before. */
export function History({ live, signatures, onDone }: HistoryProps) {
  const texts = useTexts(bilingual)
  const answer = useAnswer(...questions.history())
  const reload = () => {
    answer.reload()
    onDone()
  }
  return (
    <section>
      <h2>{texts.history}</h2>
      <Answered answer={answer}>
        {(entries) =>
          entries.length === 0 ? (
            <EmptyState title={texts.nothingPublished} />
          ) : (
            <>
              <CompareForm entries={entries} />
              <HistoryTable entries={entries} live={live} signatures={signatures} onDone={reload} />
            </>
          )
        }
      </Answered>
    </section>
  )
}

/** Any two revisions. */
function CompareForm({ entries }: { entries: readonly HistoryEntry[] }) {
  const texts = useTexts(bilingual)
  const revisions = [...new Set(entries.map(({ revision }) => revision))]
  const id = useId()
  const [from, setFrom] = useState(revisions[1] ?? revisions[0] ?? '')
  const [to, setTo] = useState(revisions[0] ?? '')
  const submit = (event: Event) => {
    event.preventDefault()
    open('changes', { from, to })
  }
  const choose = (label: string, value: string, set: (value: string) => void) => (
    <div class="field">
      <label for={`${id}-${label}`}>{label}</label>
      <select
        id={`${id}-${label}`}
        class="mono"
        value={value}
        onChange={(event) => set(event.currentTarget.value)}
      >
        {revisions.map((each) => (
          <option key={each} value={each}>
            {each.slice(0, 14)}
          </option>
        ))}
      </select>
    </div>
  )
  if (revisions.length < 2) return null
  return (
    <form class="form" onSubmit={submit}>
      {choose(texts.from, from, setFrom)}
      {choose(texts.to, to, setTo)}
      <button type="submit">{texts.compare}</button>
    </form>
  )
}

function HistoryTable({
  entries,
  live,
  signatures,
  onDone,
}: HistoryProps & { readonly entries: readonly HistoryEntry[] }) {
  const texts = useTexts(bilingual)
  const common = useTexts(commonTexts)
  const mayChange = useMayChange('publisher')
  const before = new Map(entries.map(({ id }, at) => [id, entries[at + 1]?.revision]))
  const columns: readonly Column<HistoryEntry>[] = [
    { id: 'at', title: texts.at, cell: ({ at }) => <Time at={at} />, sort: ({ at }) => at },
    {
      id: 'revision',
      title: common.revision,
      cell: ({ revision }) => (
        <>
          <code>{revision}</code> {revision === live && <span class="tag yes">{texts.isLive}</span>}
        </>
      ),
    },
    { id: 'kind', title: texts.kind, cell: ({ kind }) => kind, sort: ({ kind }) => kind },
    {
      id: 'author',
      title: texts.author,
      cell: ({ author, signers, publisher }) => (
        <>
          {signers.length === 0 ? author : `${signers.join(', ')} (${texts.signed})`}
          {publisher !== undefined && <div class="detail">{texts.publishedBy(publisher)}</div>}
        </>
      ),
      sort: ({ author }) => author,
    },
    { id: 'why', title: texts.why, cell: ({ message }) => message },
    {
      id: 'difference',
      title: texts.difference,
      cell: ({ id, revision }) => {
        const from = before.get(id)
        return from === undefined || from === revision ? null : (
          <a href={addressOf('changes', { from, to: revision })}>{texts.show}</a>
        )
      },
    },
  ]
  const rollBack: Column<HistoryEntry> = {
    id: 'rollback',
    title: texts.change,
    cell: ({ revision }) =>
      revision === live ? null : (
        <RevisionChange
          label={texts.rollBack}
          title={texts.rollBackTitle}
          effect={texts.rollBackEffect}
          operation="policy/rollback"
          revision={revision}
          signatures={signatures}
          onDone={onDone}
          isDanger
          isSmall
        />
      ),
  }
  return (
    <Table
      caption={texts.history}
      rows={entries}
      keyOf={(_, at) => at}
      columns={mayChange ? [...columns, rollBack] : columns}
    />
  )
}
