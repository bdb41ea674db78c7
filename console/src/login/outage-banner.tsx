import { findSession } from '../access.ts'
import { Banner } from '../components/banner.tsx'
import { outage } from '../state/session.ts'
import { useStore } from '../state/store.ts'
import { commonTexts, useTexts } from '../texts/texts.ts'

/** Says why the session is not known. It may be valid: then trying again is enough. */
export function OutageBanner() {
  const texts = useTexts(commonTexts)
  const trouble = useStore(outage)
  if (trouble === undefined) return null
  return (
    <Banner kind="error" isAnnounced>
      {texts.outage[trouble.kind]} {trouble.message}{' '}
      <button type="button" class="quiet" onClick={() => void findSession()}>
        {texts.retry}
      </button>
    </Banner>
  )
}
