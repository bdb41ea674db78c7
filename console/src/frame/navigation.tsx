import { useEffect, useState } from 'preact/hooks'
import type { Session } from '#client'
import { logOut } from '../access.ts'
import { addressOf } from '../address.ts'
import { type PageId, pageIds, pages } from '../pages.ts'
import { address } from '../router.ts'
import { commonTexts, useTexts } from '../texts/texts.ts'
import { Preferences } from './preferences.tsx'

/** The pages by group, and who is logged in. On narrow screens a button opens it. */
export function Navigation({ session, current }: { session: Session; current: string }) {
  const texts = useTexts(commonTexts)
  const [isOpen, setOpen] = useState(false)
  useEffect(() => address.follow(() => setOpen(false)), [])
  const groups = Map.groupBy(pageIds, (id) => pages[id]?.group ?? 'state')
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') setOpen(false)
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes what the button opened.
    <header class="side" data-open={isOpen} onKeyDown={onKeyDown}>
      <div class="brand">
        <a href="#/">{texts.product}</a>
        <button
          type="button"
          class="quiet menu"
          aria-expanded={isOpen}
          aria-controls="navigation"
          onClick={() => setOpen(!isOpen)}
        >
          {texts.menu}
        </button>
      </div>
      <div class="side-content" id="navigation">
        <nav aria-label={texts.navigation}>
          {[...groups].map(([group, ids]) => (
            <Group key={group} title={texts.groups[group]} ids={ids} current={current} />
          ))}
        </nav>
        <div class="account">
          <p>
            <span class="name">{session.username}</span>
            <span class="detail">
              {texts.consoleRoles[session.role]}
              {!session.write && ` · ${texts.readOnly}`}
            </span>
          </p>
          <button type="button" class="quiet" onClick={() => void logOut()}>
            {texts.logOut}
          </button>
          <Preferences />
        </div>
      </div>
    </header>
  )
}

interface GroupProps {
  readonly title: string
  readonly ids: readonly PageId[]
  readonly current: string
}

function Group({ title, ids, current }: GroupProps) {
  const texts = useTexts(commonTexts)
  return (
    <>
      <h2>{title}</h2>
      <ul>
        {ids.map((id) => (
          <li key={id}>
            <a href={addressOf(id)} aria-current={id === current ? 'page' : undefined}>
              {texts.pages[id]}
            </a>
          </li>
        ))}
      </ul>
    </>
  )
}
