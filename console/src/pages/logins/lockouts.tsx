import type { Lockout } from '#client'
import { Answered } from '../../components/answered.tsx'
import { Change, useMayChange } from '../../components/change.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { questions } from '../../questions.ts'
import { useTexts } from '../../texts/texts.ts'
import { useAnswer } from '../../use-answer.ts'
import { texts as bilingual } from './texts.ts'

/** What gateways lock out now. */
export function Lockouts({ onDone }: { onDone: () => void }) {
  const texts = useTexts(bilingual)
  const answer = useAnswer(...questions.locks())
  const reload = () => {
    answer.reload()
    onDone()
  }
  return (
    <section>
      <h2>{texts.lockouts}</h2>
      <Answered answer={answer}>
        {({ lockouts, unreadable }) => (
          <>
            {lockouts.length === 0 ? (
              <p>{texts.noLockouts}</p>
            ) : (
              <LockoutTable lockouts={lockouts} onDone={reload} />
            )}
            {unreadable > 0 && <p class="hint">{texts.unreadable(unreadable)}</p>}
          </>
        )}
      </Answered>
    </section>
  )
}

function LockoutTable(props: { lockouts: readonly Lockout[]; onDone: () => void }) {
  const texts = useTexts(bilingual)
  const mayChange = useMayChange('publisher')
  const columns: readonly Column<Lockout>[] = [
    {
      id: 'kind',
      title: texts.kind,
      cell: ({ kind }) => (texts.kinds as Readonly<Record<string, string>>)[kind] ?? kind,
      sort: ({ kind }) => kind,
    },
    {
      id: 'user',
      title: texts.user,
      cell: ({ username }) =>
        username === null ? <span class="detail">{texts.masked}</span> : username,
      sort: ({ username }) => username ?? undefined,
    },
    {
      id: 'address',
      title: texts.address,
      cell: ({ address }) => address,
      sort: ({ address }) => address,
    },
    {
      id: 'since',
      title: texts.began,
      cell: ({ since }) => <Time at={since} />,
      sort: ({ since }) => since,
    },
    {
      id: 'until',
      title: texts.until,
      cell: ({ until }) => <Time at={until} />,
      sort: ({ until }) => until,
    },
    {
      id: 'attempts',
      title: texts.attemptCount,
      cell: ({ attempts }) => attempts,
      sort: ({ attempts }) => attempts,
      isNumeric: true,
    },
  ]
  const unlock: Column<Lockout> = {
    id: 'unlock',
    title: texts.change,
    cell: ({ username, address }) => {
      const who = username ?? address
      return who === undefined ? null : <Unlock who={who} onDone={props.onDone} />
    },
  }
  return (
    <Table
      caption={texts.lockouts}
      rows={props.lockouts}
      keyOf={({ kind, username, address }) => `${kind} ${username} ${address}`}
      columns={mayChange ? [...columns, unlock] : columns}
    />
  )
}

function Unlock({ who, onDone }: { who: string; onDone: () => void }) {
  const texts = useTexts(bilingual)
  return (
    <Change
      needs="publisher"
      label={texts.unlock}
      title={texts.unlockTitle(who)}
      operation="login/unlock"
      body={{ user: who }}
      onDone={onDone}
      isSmall
    >
      <p>{texts.unlockEffect}</p>
    </Change>
  )
}
