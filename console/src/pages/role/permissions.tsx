import type { ComponentChildren } from 'preact'
import type { RoleAccess } from '#client'
import type { Query } from '../../address.ts'
import { CommandCsv } from '../../components/command-csv.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { Facts } from '../../components/facts.tsx'
import { Notes } from '../../components/notes.tsx'
import { ErrorState } from '../../components/states.tsx'
import { routeTitle } from '../../lib/route-title.ts'
import { placeOf } from '../../lib/rule-line.ts'
import { open } from '../../router.ts'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import { useAnswer } from '../../use-answer.ts'
import { RuleTable, type UnusedLines } from './rule-table.tsx'
import { texts as bilingual } from './texts.ts'

interface PermissionsProps {
  readonly answer: RoleAccess
  readonly query: Query
}

/** Everything that one role may do. */
export function Permissions({ answer, query }: PermissionsProps) {
  const texts = useTexts(bilingual)
  const common = useTexts(commonTexts)
  const { roleKey, unrestricted, inherits, routes, unserved, ineffective } = answer
  const { host, revision } = query
  const wantsUnused = query['unused'] !== undefined
  const unused = useAnswer(wantsUnused ? 'policy/unused' : undefined, {
    host,
    revision,
  })
  const lines: UnusedLines = new Map(
    (unused.value?.grants ?? []).map(({ file, line, isNew }) => [placeOf({ file, line }), isNew]),
  )
  const table = { roleKey, host, unused: lines }
  return (
    <>
      {unrestricted === 'admin' && <p class="summary">{texts.admin}</p>}
      {typeof unrestricted === 'object' && (
        <p class="summary">
          {texts.superuser} <code>{unrestricted.clause}</code>
        </p>
      )}
      <Facts
        of={[
          [texts.inherits, inherits.length === 0 ? texts.nothing : inherits.join(' ← ')],
          [common.policy, answer.policy],
          [common.revision, <code key="revision">{answer.revision}</code>],
        ]}
      />
      <div class="actions block">
        <CopyButton text={location.href} label={common.copyLink} />
        <CommandCsv operation="policy/can" parameters={{ role: roleKey, host, revision }} />
        <label class="check">
          <input
            type="checkbox"
            checked={wantsUnused}
            onChange={() => open('role', { ...query, unused: wantsUnused ? undefined : '1' })}
          />
          {texts.markUnused}
        </label>
      </div>
      {unused.problem !== undefined && (
        <ErrorState problem={unused.problem} onRetry={unused.reload} />
      )}
      {routes.length === 0 && unrestricted === undefined && (
        <p class="block summary">{texts.none}</p>
      )}
      {routes.map(({ route, rules }) => {
        const title = route === undefined ? texts.anyRoute : routeTitle(route)
        const about = route?.upstream === undefined ? undefined : `→ ${route.upstream}`
        return (
          <Group key={title} title={<code>{title}</code>} about={about} count={rules.length}>
            <RuleTable caption={title} rules={rules} {...table} />
          </Group>
        )
      })}
      {unserved.length > 0 && (
        <Group title={texts.unserved} about={texts.unservedHint} count={unserved.length}>
          <RuleTable caption={texts.unserved} rules={unserved} {...table} />
        </Group>
      )}
      {ineffective.length > 0 && (
        <Group title={texts.ineffective} about={texts.ineffectiveHint} count={ineffective.length}>
          <RuleTable caption={texts.ineffective} rules={ineffective} {...table} />
        </Group>
      )}
      <Notes of={[...answer.notes, ...(unused.value?.notes ?? [])]} />
    </>
  )
}

interface GroupProps {
  readonly title: ComponentChildren
  readonly about: string | undefined
  readonly count: number
  readonly children: ComponentChildren
}

function Group({ title, about, count, children }: GroupProps) {
  return (
    <section>
      <div class="section-head">
        <h2>
          {title} <span class="count">{count}</span>
        </h2>
        {about !== undefined && <p class="detail">{about}</p>}
      </div>
      {children}
    </section>
  )
}
