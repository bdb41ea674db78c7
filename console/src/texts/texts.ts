import { type Language, language } from '../state/preferences.ts'
import { useStore } from '../state/store.ts'
import { en } from './en.ts'
import { zh } from './zh.ts'

/** Texts with equal keys in both languages: `const zh: typeof en` makes a missing one a type error. */
export type Texts<T> = Readonly<Record<Language, T>>

/** The texts of the frame and of the components. */
export const commonTexts: Texts<typeof en> = { en, zh }

export function useTexts<T>(texts: Texts<T>): T {
  return texts[useStore(language)]
}
