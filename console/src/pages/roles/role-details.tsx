import type { RoleShow } from '#client'
import { addressOf } from '../../address.ts'
import { Answered } from '../../components/answered.tsx'
import { Facts } from '../../components/facts.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { Time } from '../../components/time.tsx'
import { questions } from '../../questions.ts'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import { useAnswer } from '../../use-answer.ts'
import { texts as bilingual } from './texts.ts'

/** One role with its accounts. What it may do is another page. */
export function RoleDetails({ roleKey }: { roleKey: string }) {
  const texts = useTexts(bilingual)
  const { pages } = useTexts(commonTexts)
  const answer = useAnswer(...questions.role(roleKey))
  return (
    <>
      <PageHeader title={roleKey}>
        <a class="button" href={addressOf('role', { role: roleKey })}>
          {texts.may}
        </a>
        <a class="button" href={addressOf('roles')}>
          ← {pages.roles}
        </a>
      </PageHeader>
      <Answered answer={answer}>{(role) => <About role={role} />}</Answered>
    </>
  )
}

function About({ role }: { role: RoleShow }) {
  const texts = useTexts(bilingual)
  const { users, services, accounts, sameKey } = role
  const left = users.enabled + users.disabled + services - accounts.length
  return (
    <>
      <Facts
        of={[
          [texts.name, role.name],
          [texts.id, role.roleId],
          [texts.dataScope, role.dataScopeName ?? role.dataScope],
          [texts.people, texts.users(users.enabled, users.disabled)],
          [texts.services, services],
          [texts.sameKey, sameKey.join(', ')],
          [texts.created, role.createdAt && <Time at={role.createdAt} />],
          [texts.updated, role.updatedAt && <Time at={role.updatedAt} />],
        ]}
      />
      {accounts.length > 0 && (
        <section>
          <h2>
            {texts.accounts} <span class="count">{accounts.length + left}</span>
          </h2>
          <ul class="columns">
            {accounts.map(({ username, kind }) => (
              <li key={`${kind} ${username}`}>
                <a href={addressOf('people', { name: username })}>{username}</a>{' '}
                {kind === 'service' && <span class="detail">{texts.service}</span>}
              </li>
            ))}
          </ul>
          {left > 0 && <p class="hint">{texts.moreAccounts(left)}</p>}
        </section>
      )}
    </>
  )
}
