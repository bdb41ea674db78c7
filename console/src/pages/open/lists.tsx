import type { ComponentChildren } from 'preact'
import type { ExclusionEffect, OpenRoute, PolicyOpen, OtherTokens as Tokens } from '#client'
import { callColumns } from '../../components/access/call-columns.tsx'
import { Name } from '../../components/name.tsx'
import { Table } from '../../components/table.tsx'
import { placeOf } from '../../lib/rule-line.ts'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import { texts as bilingual } from './texts.ts'

interface ListProps {
  readonly title: string
  readonly about?: string
  readonly count: number
  readonly children: ComponentChildren
}

/** An empty list is shown too: that nothing is public is worth reading. */
function List({ title, about, count, children }: ListProps) {
  const texts = useTexts(bilingual)
  return (
    <section>
      <div class="section-head">
        <h2>
          {title} <span class="count">{count}</span>
        </h2>
        {about !== undefined && <p class="detail">{about}</p>}
      </div>
      {count === 0 ? <p class="detail">{texts.none}</p> : children}
    </section>
  )
}

interface RoutesProps {
  readonly title: string
  readonly about: string
  readonly routes: readonly OpenRoute[]
}

export function Routes({ title, about, routes }: RoutesProps) {
  const texts = useTexts(bilingual)
  const common = useTexts(commonTexts)
  return (
    <List title={title} about={about} count={routes.length}>
      <Table
        caption={title}
        rows={routes}
        keyOf={(_, at) => at}
        columns={[
          {
            id: 'path',
            title: common.path,
            cell: ({ path }) => <Name text={path} isCode />,
            sort: ({ path }) => path,
          },
          {
            id: 'reason',
            title: texts.reason,
            cell: ({ reason }) => reason ?? <span class="tag part">{texts.noReason}</span>,
            sort: ({ reason }) => reason,
          },
          {
            id: 'upstream',
            title: texts.upstream,
            cell: ({ upstream }) => upstream,
            sort: ({ upstream }) => upstream,
          },
          {
            id: 'except',
            title: texts.except,
            cell: ({ except }) =>
              except.map(({ path, access }) => (
                <div key={path}>
                  <code>{path}</code> {texts.access[access]}
                </div>
              )),
          },
        ]}
      />
    </List>
  )
}

interface ExclusionsProps {
  readonly title: string
  readonly about?: string
  readonly exclusions: readonly ExclusionEffect[]
}

export function Exclusions({ title, about, exclusions }: ExclusionsProps) {
  const texts = useTexts(bilingual)
  const common = useTexts(commonTexts)
  return (
    <List title={title} {...(about !== undefined && { about })} count={exclusions.length}>
      <Table
        caption={title}
        rows={exclusions}
        keyOf={(_, at) => at}
        columns={[
          ...callColumns<ExclusionEffect>(common, ({ exclusion }) => exclusion),
          {
            id: 'reason',
            title: texts.reason,
            cell: ({ exclusion }) => exclusion.reason,
            sort: ({ exclusion }) => exclusion.reason,
          },
          {
            id: 'effect',
            title: texts.effect,
            cell: ({ effect, reasons }) => (
              <>
                {texts.effects[effect]}
                {reasons.map(({ why }) => (
                  <span key={why} class="detail">
                    {` · ${texts.why[why]}`}
                  </span>
                ))}
              </>
            ),
            sort: ({ effect }) => effect,
          },
          {
            id: 'line',
            title: common.line,
            cell: ({ exclusion: { origin, until } }) => (
              <>
                {placeOf(origin)} {until !== undefined && <span class="until">{until}</span>}
              </>
            ),
            sort: ({ exclusion }) => placeOf(exclusion.origin),
          },
        ]}
      />
    </List>
  )
}

export function Endpoints({ endpoints }: Pick<PolicyOpen, 'endpoints'>) {
  const texts = useTexts(bilingual)
  const common = useTexts(commonTexts)
  return (
    <List title={texts.endpoints} about={texts.endpointsAbout} count={endpoints.length}>
      <Table
        caption={texts.endpoints}
        rows={endpoints}
        keyOf={(_, at) => at}
        columns={[
          ...callColumns<PolicyOpen['endpoints'][number]>(common, (endpoint) => endpoint),
          {
            id: 'need',
            title: texts.need,
            cell: ({ need }) => texts.needs[need],
            sort: ({ need }) => need,
          },
          {
            id: 'reason',
            title: texts.reason,
            cell: ({ reason }) => reason,
            sort: ({ reason }) => reason,
          },
          { id: 'upstream', title: texts.upstream, cell: ({ upstream }) => upstream },
        ]}
      />
    </List>
  )
}

export function OtherTokens({ tokens }: { tokens: readonly Tokens[] }) {
  const texts = useTexts(bilingual)
  return (
    <List title={texts.tokens} about={texts.tokensAbout} count={tokens.length}>
      <Table
        caption={texts.tokens}
        rows={tokens}
        keyOf={(_, at) => at}
        columns={[
          {
            id: 'kind',
            title: texts.kind,
            cell: (each) => (each.kind === 'service' ? texts.service : texts.issuer),
          },
          {
            id: 'detail',
            title: texts.detail,
            cell: (each) =>
              each.kind === 'service' ? (
                texts.serviceDetail(Math.round(each.maxLifetimeSeconds / 86_400))
              ) : (
                <>
                  <code>{each.issuer}</code> {texts.roles(each.roles.join(', '))}
                </>
              ),
          },
        ]}
      />
    </List>
  )
}
