import type { ComponentType } from 'preact'
import type { Query } from './address.ts'
import type { en } from './texts/en.ts'

export interface PageProps {
  /** What follows `?` in the address. */
  readonly query: Query
}

interface PageEntry {
  /** The heading that it has in the navigation. */
  readonly group: keyof typeof en.groups
  readonly load: () => Promise<{ readonly Page: ComponentType<PageProps> }>
}

/** Every page, in the order of the navigation. Its key is its address and names its title in the texts. */
export const pages: { readonly [Id in keyof typeof en.pages]?: PageEntry } = {
  overview: { group: 'state', load: () => import('./pages/overview/page.tsx') },
  decisions: { group: 'state', load: () => import('./pages/decisions/page.tsx') },
  fleet: { group: 'state', load: () => import('./pages/fleet/page.tsx') },
  can: { group: 'policy', load: () => import('./pages/can/page.tsx') },
  who: { group: 'policy', load: () => import('./pages/who/page.tsx') },
  role: { group: 'policy', load: () => import('./pages/role/page.tsx') },
  matrix: { group: 'policy', load: () => import('./pages/matrix/page.tsx') },
  open: { group: 'policy', load: () => import('./pages/open/page.tsx') },
  changes: { group: 'change', load: () => import('./pages/changes/page.tsx') },
  editor: { group: 'change', load: () => import('./pages/editor/page.tsx') },
  people: { group: 'people', load: () => import('./pages/people/page.tsx') },
  roles: { group: 'people', load: () => import('./pages/roles/page.tsx') },
  sessions: { group: 'people', load: () => import('./pages/sessions/page.tsx') },
  logins: { group: 'people', load: () => import('./pages/logins/page.tsx') },
  audit: { group: 'people', load: () => import('./pages/audit/page.tsx') },
}

export type PageId = keyof typeof en.pages

export function isPage(id: string): id is PageId {
  return Object.hasOwn(pages, id)
}

export const pageIds = Object.keys(pages).filter(isPage)

/** The page that an address names; the first one if it names none. */
export function pageNamed(name: string): string {
  return name === '' ? (pageIds[0] ?? '') : name
}

/** Fetches the code of a page before it is shown. A failure is the page's to tell. */
export function preload(id: string): void {
  if (isPage(id)) pages[id]?.load().catch(() => {})
}
