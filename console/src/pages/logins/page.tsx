import type { LoginAttempt, LoginList } from '#client'
import { addressOf } from '../../address.ts'
import { Answered } from '../../components/answered.tsx'
import { Banner } from '../../components/banner.tsx'
import { CsvLink } from '../../components/csv-link.tsx'
import { Filters } from '../../components/filters.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { EmptyState } from '../../components/states.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import type { PageProps } from '../../pages.ts'
import { questions } from '../../questions.ts'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import { useAnswer } from '../../use-answer.ts'
import { Lockouts } from './lockouts.tsx'
import { texts as bilingual } from './texts.ts'

/** Login attempts, logouts, and what is locked out now. */
export function Page({ query }: PageProps) {
  const texts = useTexts(bilingual)
  const { pages } = useTexts(commonTexts)
  const answer = useAnswer(...questions.logins(query))
  const { '1d': lastDay, ...longer } = texts.spans
  const spans = [['', lastDay] as const, ...Object.entries(longer)]
  const filters = [
    { name: 'user', label: texts.user },
    { name: 'address', label: texts.address, placeholder: '192.0.2.0/24' },
    {
      name: 'outcome',
      label: texts.outcome,
      choices: [['', texts.all] as const, ...Object.entries(texts.outcomes)],
    },
    { name: 'since', label: texts.since, choices: spans },
  ]
  return (
    <>
      <PageHeader title={pages.logins} about={texts.about} />
      <Lockouts onDone={answer.reload} />
      <section>
        <h2>{texts.attempts}</h2>
        <Filters page="logins" query={query} filters={filters} />
        <Answered answer={answer}>{(value) => <Attempts answer={value} />}</Answered>
      </section>
    </>
  )
}

function Attempts({ answer: { attempts, recording, more } }: { answer: LoginList }) {
  const texts = useTexts(bilingual)
  const columns: readonly Column<LoginAttempt>[] = [
    { id: 'at', title: texts.time, cell: ({ at }) => <Time at={at} />, sort: ({ at }) => at },
    {
      id: 'user',
      title: texts.user,
      cell: ({ username }) =>
        username === null ? (
          <span class="detail">{texts.masked}</span>
        ) : (
          <a href={addressOf('people', { name: username })}>{username}</a>
        ),
      sort: ({ username }) => username ?? undefined,
    },
    {
      id: 'outcome',
      title: texts.outcome,
      cell: ({ outcome, succeeded, message }) => (
        <span class={succeeded ? 'tag yes' : 'tag no'}>
          {outcomeInWords(outcome, texts) ?? message}
        </span>
      ),
      sort: ({ outcome }) => outcome ?? undefined,
    },
    {
      id: 'address',
      title: texts.address,
      cell: ({ address }) => address,
      sort: ({ address }) => address,
    },
    {
      id: 'client',
      title: texts.client,
      cell: ({ userAgent }) => (
        <span class="cut" title={userAgent}>
          {userAgent}
        </span>
      ),
      sort: ({ userAgent }) => userAgent,
    },
  ]
  return (
    <>
      {!recording && <Banner kind="warning">{texts.notRecording}</Banner>}
      {attempts.length === 0 ? (
        <EmptyState title={texts.nothing} />
      ) : (
        <>
          <div class="section-head block">
            <p class="count">
              {more ? texts.newest(attempts.length) : texts.found(attempts.length)}
            </p>
            <CsvLink name="logins" rows={() => csvOf(attempts)} />
          </div>
          <Table
            caption={texts.attempts}
            rows={attempts}
            keyOf={(_, index) => index}
            columns={columns}
          />
        </>
      )}
    </>
  )
}

function outcomeInWords(outcome: string | null, { outcomes }: typeof bilingual.en) {
  return outcome === null ? undefined : (outcomes as Readonly<Record<string, string>>)[outcome]
}

function csvOf(attempts: readonly LoginAttempt[]) {
  const titles = ['at', 'user', 'outcome', 'address', 'client']
  const rows = attempts.map(({ at, username, outcome, message, address, userAgent }) => [
    at,
    username ?? '',
    outcome ?? message,
    address,
    userAgent,
  ])
  return [titles, ...rows]
}
