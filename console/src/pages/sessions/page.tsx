import type { LiveSession } from '#client'
import { addressOf } from '../../address.ts'
import { Answered } from '../../components/answered.tsx'
import { Change, useMayChange } from '../../components/change.tsx'
import { Filters } from '../../components/filters.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { EmptyState } from '../../components/states.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import type { PageProps } from '../../pages.ts'
import { questions } from '../../questions.ts'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import { useAnswer } from '../../use-answer.ts'
import { texts as bilingual } from './texts.ts'

/** Who is logged in. */
export function Page({ query }: PageProps) {
  const texts = useTexts(bilingual)
  const { pages } = useTexts(commonTexts)
  const answer = useAnswer(...questions.sessions(query))
  return (
    <>
      <PageHeader title={pages.sessions} about={texts.about}>
        <button type="button" onClick={answer.reload}>
          {texts.refresh}
        </button>
      </PageHeader>
      <Filters
        page="sessions"
        query={query}
        filters={[{ name: 'user', label: texts.user, placeholder: texts.userExample }]}
      />
      <Answered answer={answer}>
        {({ total, sessions }) => (
          <>
            <p class="count block">{texts.found(sessions.length, total)}</p>
            {sessions.length === 0 ? (
              <EmptyState title={texts.nothing} />
            ) : (
              <Sessions sessions={sessions} onDone={answer.reload} />
            )}
          </>
        )}
      </Answered>
    </>
  )
}

interface SessionsProps {
  readonly sessions: readonly LiveSession[]
  readonly onDone: () => void
}

function Sessions({ sessions, onDone }: SessionsProps) {
  const texts = useTexts(bilingual)
  const common = useTexts(commonTexts)
  const mayChange = useMayChange('publisher')
  const columns: readonly Column<LiveSession>[] = [
    {
      id: 'user',
      title: texts.user,
      cell: ({ username }) => <a href={addressOf('people', { name: username })}>{username}</a>,
      sort: ({ username }) => username,
    },
    {
      id: 'role',
      title: common.role,
      cell: ({ roleKey }) => <code>{roleKey}</code>,
      sort: ({ roleKey }) => roleKey,
    },
    {
      id: 'address',
      title: texts.address,
      cell: ({ address }) => address,
      sort: ({ address }) => address,
    },
    {
      id: 'agent',
      title: texts.client,
      cell: ({ agent }) => (
        <span class="cut" title={agent}>
          {agent}
        </span>
      ),
      sort: ({ agent }) => agent,
    },
    {
      id: 'seen',
      title: texts.seen,
      cell: ({ seenAt }) => <Time at={seenAt} />,
      sort: ({ seenAt }) => seenAt,
    },
    {
      id: 'issued',
      title: texts.issued,
      cell: ({ issuedAt }) => <Time at={issuedAt} />,
      sort: ({ issuedAt }) => issuedAt,
    },
    {
      id: 'expires',
      title: texts.expires,
      cell: ({ expiresAt }) => <Time at={expiresAt} />,
      sort: ({ expiresAt }) => expiresAt,
    },
  ]
  const end: Column<LiveSession> = {
    id: 'end',
    title: texts.change,
    cell: ({ id, username, address }) => (
      <Change
        needs="publisher"
        label={texts.end}
        title={texts.endTitle(username)}
        operation="session/end"
        body={{ id }}
        onDone={onDone}
        isDanger
        isSmall
      >
        <p>{texts.endEffect(username, address)}</p>
      </Change>
    ),
  }
  return (
    <Table
      caption={common.pages.sessions}
      rows={sessions}
      keyOf={({ id }) => id}
      columns={mayChange ? [...columns, end] : columns}
    />
  )
}
