import { bestLanguage } from '../messages/language.ts'
import { en } from './texts/en.ts'
import type { Texts } from './texts/texts.ts'
import { zh } from './texts/zh.ts'

export type Language = 'en' | 'zh'

export const pageTexts: Readonly<Record<Language, Texts>> = { en, zh }

/** The language that the reader chose, else the one that the browser prefers, else English. */
export function chooseLanguage(chosen: string | null, accepted: string): Language {
  if (chosen === 'en' || chosen === 'zh') return chosen
  return bestLanguage(accepted, ['en', 'zh']) === 'zh' ? 'zh' : 'en'
}
