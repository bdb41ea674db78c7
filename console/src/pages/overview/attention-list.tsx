import type { Fleet } from '#client'
import { addressOf } from '../../address.ts'
import { attentionOf } from '../../lib/live/attention.ts'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import { texts as bilingual } from './texts.ts'

const mostNames = 3

/** What is wrong or soon will be, errors first. */
export function AttentionList({ fleet }: { fleet: Fleet }) {
  const texts = useTexts(bilingual)
  const { pages } = useTexts(commonTexts)
  const found = attentionOf(fleet, Date.now())
  return (
    <section>
      <h2>{texts.attention}</h2>
      {found.length === 0 ? (
        <p class="all-well">
          <span aria-hidden="true">✓</span> {texts.allWell}
        </p>
      ) : (
        <ul class="attention">
          {found.map(({ kind, isError, replicas }) => (
            <li key={kind} class={isError ? 'error' : 'warning'}>
              {texts.kinds[kind](replicas.length)}{' '}
              <span class="detail">
                {replicas.length > 0 &&
                  texts.someReplicas(
                    replicas.slice(0, mostNames).join(', '),
                    replicas.length - mostNames,
                  )}
              </span>{' '}
              {kind === 'unpublished' ? (
                <a href={addressOf('changes')}>{pages.changes}</a>
              ) : (
                <a href={addressOf('fleet')}>{pages.fleet}</a>
              )}
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
