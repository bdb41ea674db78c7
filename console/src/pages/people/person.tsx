import type { UserShow } from '#client'
import { addressOf } from '../../address.ts'
import { Answered } from '../../components/answered.tsx'
import { Facts } from '../../components/facts.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { questions } from '../../questions.ts'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import { useAnswer } from '../../use-answer.ts'
import { PersonChanges } from './person-changes.tsx'
import { texts as bilingual } from './texts.ts'

/** One account with its role, sessions, lock-outs, one-time codes and links. */
export function Person({ name }: { name: string }) {
  const texts = useTexts(bilingual)
  const { pages } = useTexts(commonTexts)
  const answer = useAnswer(...questions.user(name))
  return (
    <>
      <PageHeader title={name}>
        <a class="button" href={addressOf('people')}>
          {texts.back(pages.people)}
        </a>
      </PageHeader>
      <Answered answer={answer}>
        {(account) => (
          <>
            <AccountFacts account={account} />
            <PersonChanges account={account} onDone={answer.reload} />
            <p class="actions block">
              <a href={addressOf('sessions', { user: account.username })}>{pages.sessions}</a>
              <a href={addressOf('logins', { user: account.username, since: '30d' })}>
                {pages.logins}
              </a>
              <a href={addressOf('audit', { subject: account.username })}>{pages.audit}</a>
            </p>
            <Lockouts account={account} />
            <Links account={account} />
          </>
        )}
      </Answered>
    </>
  )
}

function AccountFacts({ account }: { account: UserShow }) {
  const texts = useTexts(bilingual)
  const common = useTexts(commonTexts)
  const { roleKey, roleName, enabled, kind, oneTimeCodes, sessions, lockouts, sameName } = account
  const role =
    roleKey === '' ? (
      <span class="tag no">{texts.noRole}</span>
    ) : (
      <>
        <a href={addressOf('roles', { key: roleKey })}>{roleKey}</a>{' '}
        <span class="detail">{roleName}</span>
      </>
    )
  const state = enabled ? texts.states.enabled : texts.states.disabled
  return (
    <Facts
      of={[
        [texts.id, account.userId],
        [texts.kind, texts.kinds[kind]],
        [common.role, role],
        [texts.dataScope, account.dataScopeName ?? account.dataScope],
        [texts.state, kind === 'service' ? texts.noLogin : state],
        [texts.password, kind === 'user' && !account.hasPassword ? texts.noPassword : undefined],
        [texts.codes, codesInWords(oneTimeCodes, texts)],
        [texts.sessions, sessions ?? texts.unknown],
        [texts.lockouts, lockouts === null ? texts.unknown : lockouts.length],
        [texts.sameName, sameName.join(', ')],
        [texts.created, account.createdAt && <Time at={account.createdAt} />],
        [texts.updated, account.updatedAt && <Time at={account.updatedAt} />],
      ]}
    />
  )
}

function codesInWords(codes: UserShow['oneTimeCodes'], texts: typeof bilingual.en): string {
  return codes === null ? texts.no : texts.recoveryCodes(codes.recoveryCodesLeft)
}

function Lockouts({ account: { lockouts } }: { account: UserShow }) {
  const texts = useTexts(bilingual)
  if (lockouts === null || lockouts.length === 0) return null
  return (
    <section>
      <h2>
        {texts.lockouts} <span class="count">{lockouts.length}</span>
      </h2>
      <Table
        caption={texts.lockouts}
        rows={lockouts}
        keyOf={(_, index) => index}
        columns={[
          { id: 'from', title: texts.from, cell: ({ address }) => address ?? texts.everywhere },
          { id: 'since', title: texts.since, cell: ({ since }) => <Time at={since} /> },
          { id: 'until', title: texts.until, cell: ({ until }) => <Time at={until} /> },
          {
            id: 'attempts',
            title: texts.attempts,
            cell: ({ attempts }) => attempts,
            isNumeric: true,
          },
        ]}
      />
    </section>
  )
}

function Links({ account: { links } }: { account: UserShow }) {
  const texts = useTexts(bilingual)
  if (links.length === 0) return null
  return (
    <section>
      <h2>
        {texts.links} <span class="count">{links.length}</span>
      </h2>
      <Table
        caption={texts.links}
        rows={links}
        keyOf={({ provider, subject }) => `${provider} ${subject}`}
        columns={[
          { id: 'provider', title: texts.provider, cell: ({ provider }) => provider },
          { id: 'subject', title: texts.subject, cell: ({ subject }) => <code>{subject}</code> },
          {
            id: 'seen',
            title: texts.lastLogin,
            cell: ({ seenAt }) => (seenAt === null ? texts.never : <Time at={seenAt} />),
          },
        ]}
      />
    </section>
  )
}
