import type { HistoryEntry } from '#client'
import { addressOf } from '../../address.ts'
import { Refreshed } from '../../components/live/refreshed.tsx'
import { Revision } from '../../components/live/revision.tsx'
import { Name } from '../../components/name.tsx'
import { Table } from '../../components/table.tsx'
import { Time } from '../../components/time.tsx'
import { questions } from '../../questions.ts'
import { useTexts } from '../../texts/texts.ts'
import { useRefreshed } from '../../use-refreshed.ts'
import { texts as bilingual } from './texts.ts'

const mostShown = 5
const revisionForm = /^r-[0-9a-f]{12,}$/

/** The last moves of the live policy, each with the difference to the one before. */
export function PolicyChanges({ moves }: { moves: readonly HistoryEntry[] }) {
  const texts = useTexts(bilingual)
  const before = new Map(moves.map((move, at) => [move, moves[at + 1]?.revision]))
  return (
    <section>
      <div class="section-head">
        <h2>{texts.policyChanges}</h2>
        <a href={addressOf('changes')}>{texts.all}</a>
      </div>
      {moves.length === 0 ? (
        <p class="detail">{texts.noPolicyChanges}</p>
      ) : (
        <Table
          caption={texts.policyChanges}
          rows={moves.slice(0, mostShown)}
          keyOf={(_, at) => at}
          columns={[
            { id: 'at', title: texts.at, cell: ({ at }) => <Time at={at} /> },
            {
              id: 'revision',
              title: texts.revision,
              cell: ({ revision }) => <Revision of={revision} />,
            },
            {
              id: 'who',
              title: texts.who,
              cell: ({ author, publisher }) => (
                <>
                  <Name text={author} />
                  {publisher !== undefined && <div class="detail">{texts.movedBy(publisher)}</div>}
                </>
              ),
            },
            { id: 'why', title: texts.why, cell: ({ message }) => <Name text={message} /> },
            {
              id: 'difference',
              title: texts.difference,
              cell: (move) => {
                const from = before.get(move)
                return from === undefined || from === move.revision ? null : (
                  <a href={addressOf('changes', { from, to: move.revision })}>{texts.show}</a>
                )
              },
            },
          ]}
        />
      )}
    </section>
  )
}

/** The last entries of the audit log. */
export function RecordedChanges({ turn }: { turn: number }) {
  const texts = useTexts(bilingual)
  const answer = useRefreshed(...questions.recorded(), {
    turn,
    isOptional: true,
  })
  return (
    <section>
      <div class="section-head">
        <h2>{texts.changes}</h2>
        <a href={addressOf('audit')}>{texts.all}</a>
      </div>
      <Refreshed answer={answer}>
        {(entries) =>
          entries.length === 0 ? (
            <p class="detail">{texts.noChanges}</p>
          ) : (
            <Table
              caption={texts.changes}
              rows={entries}
              keyOf={({ id }) => id}
              columns={[
                { id: 'at', title: texts.at, cell: ({ at }) => <Time at={at} /> },
                { id: 'who', title: texts.who, cell: ({ actor }) => <Name text={actor.name} /> },
                {
                  id: 'action',
                  title: texts.action,
                  cell: ({ action }) => <code>{action}</code>,
                },
                {
                  id: 'subject',
                  title: texts.subject,
                  cell: ({ subject }) =>
                    revisionForm.test(subject) ? (
                      <Revision of={subject} />
                    ) : (
                      <Name text={subject} />
                    ),
                },
              ]}
            />
          )
        }
      </Refreshed>
    </section>
  )
}
