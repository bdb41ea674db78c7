import type { ComponentType } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'
import type { Session } from '#client'
import { Problem } from '#client'
import { Banner } from '../components/banner.tsx'
import { PageHeader } from '../components/page-header.tsx'
import { ErrorState, Loading } from '../components/states.tsx'
import { FailedLogin } from '../login/failed-login.tsx'
import { isPage, type PageProps, pageNamed, pages } from '../pages.ts'
import { address } from '../router.ts'
import { outage } from '../state/session.ts'
import { useStore } from '../state/store.ts'
import { commonTexts, useTexts } from '../texts/texts.ts'
import { Confirm } from './confirm.tsx'
import { Navigation } from './navigation.tsx'

/** Navigation, banners and the page that the address names. */
export function Layout({ session }: { session: Session }) {
  const texts = useTexts(commonTexts)
  const { page, query } = useStore(address)
  const trouble = useStore(outage)
  const id = pageNamed(page)
  return (
    <div class="frame">
      <button type="button" class="skip" onClick={skip}>
        {texts.skip}
      </button>
      <Navigation session={session} current={id} />
      <main id="content" tabIndex={-1}>
        {session.mode === 'dev' && <Banner kind="warning">{texts.devMode}</Banner>}
        {trouble !== undefined && (
          <Banner kind="error" isAnnounced>
            {texts.outage[trouble.kind]} {trouble.message}
          </Banner>
        )}
        <FailedLogin key={`failed ${id}`} />
        <LoadedPage key={id} id={id} query={query} />
      </main>
      <Confirm />
    </div>
  )
}

/** A button, because the part after `#` of the address belongs to the router. */
function skip(): void {
  document.getElementById('content')?.focus()
}

function LoadedPage({ id, query }: PageProps & { id: string }) {
  const texts = useTexts(commonTexts)
  const [view, setView] = useState<{ readonly Page: ComponentType<PageProps> } | 'failed'>()
  const [turn, setTurn] = useState(0)
  const load = isPage(id) ? pages[id]?.load : undefined
  // Before the frame is painted: the code is often there already.
  useLayoutEffect(() => {
    let isShown = true
    load?.().then(
      ({ Page }) => isShown && setView({ Page }),
      () => isShown && setView('failed'),
    )
    return () => {
      isShown = false
    }
  }, [load, turn])
  if (load === undefined) return <PageHeader title={texts.notFound} about={texts.notFoundHint} />
  if (view === 'failed') {
    return <ErrorState problem={new Problem(0, [])} onRetry={() => setTurn(turn + 1)} />
  }
  return view === undefined ? <Loading /> : <view.Page query={query} />
}
