import { createStore, type Store } from './store.ts'

export type Language = 'en' | 'zh'
export type Theme = 'system' | 'light' | 'dark'

/** The language of the pages: chosen, or the first of the browser's that the console has. */
export const language: Store<Language> = createStore(read('language', ['en', 'zh']) ?? ofBrowser())
export const theme: Store<Theme> = createStore(read('theme', ['light', 'dark']) ?? 'system')

/** Applies the preferences to the document, now and after each change. */
export function applyPreferences(): void {
  const root = document.documentElement
  const apply = () => {
    root.lang = language.get() === 'zh' ? 'zh-CN' : 'en'
    root.dataset['theme'] = theme.get()
  }
  apply()
  for (const [name, store] of [
    ['language', language],
    ['theme', theme],
  ] as const) {
    store.follow(() => {
      apply()
      write(name, store.get())
    })
  }
}

function ofBrowser(): Language {
  const known = navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase())
  return known.find((tag) => tag === 'en' || tag === 'zh') === 'zh' ? 'zh' : 'en'
}

/** Storage throws where the browser blocks it; preferences then last as long as the page. */
function read<T extends string>(name: string, allowed: readonly T[]): T | undefined {
  try {
    const stored = localStorage.getItem(`postern-${name}`)
    return allowed.find((value) => value === stored)
  } catch {
    return undefined
  }
}

function write(name: string, value: string): void {
  try {
    localStorage.setItem(`postern-${name}`, value)
  } catch {}
}
