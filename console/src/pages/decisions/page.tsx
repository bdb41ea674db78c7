import { addressOf } from '../../address.ts'
import { PageHeader } from '../../components/page-header.tsx'
import type { PageProps } from '../../pages.ts'
import { commonTexts, useTexts } from '../../texts/texts.ts'
import { LiveDecisions } from './live-decisions.tsx'
import { Refusals } from './refusals.tsx'
import { texts as bilingual } from './texts.ts'

/** What gateways decide, as it happens, or what they refused most often. */
export function Page({ query }: PageProps) {
  const texts = useTexts(bilingual)
  const { pages } = useTexts(commonTexts)
  const view = query['view'] === 'refusals' ? 'refusals' : 'live'
  const tab = (id: 'live' | 'refusals', address: string) => (
    <a href={address} aria-current={view === id ? 'page' : undefined}>
      {texts.views[id]}
    </a>
  )
  return (
    <>
      <PageHeader title={pages.decisions} about={texts.about} />
      <nav aria-label={texts.viewsLabel} class="tabs">
        {tab('live', addressOf('decisions'))}
        {tab('refusals', addressOf('decisions', { view: 'refusals' }))}
      </nav>
      {view === 'live' ? <LiveDecisions query={query} /> : <Refusals query={query} />}
    </>
  )
}
