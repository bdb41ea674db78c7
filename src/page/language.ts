import { bestLanguage } from '../messages/language.ts'
import en from './texts/en.json' with { type: 'json' }
import zh from './texts/zh.json' with { type: 'json' }

export type Language = 'en' | 'zh'

/** Every text of the page. A language that lacks one does not compile. */
export type Texts = Readonly<Record<keyof typeof en, string>>

export const pageTexts: Readonly<Record<Language, Texts>> = { en, zh }

/** A text with the name of a person, provider or page in it. */
export function naming(text: string, name: string): string {
  // As a function: `$&` in a name would mean something.
  return text.replace('{name}', () => name)
}

/** The language that the reader chose, else the one that the browser prefers, else `usual`. */
export function chooseLanguage(chosen: string | null, accepted: string, usual: Language): Language {
  if (chosen === 'en' || chosen === 'zh') return chosen
  const languages = usual === 'en' ? (['en', 'zh'] as const) : (['zh', 'en'] as const)
  return languageOf(bestLanguage(accepted, languages))
}

/** The language of the page for a language tag: English where the page does not have it. */
export function languageOf(tag: string): Language {
  return bestLanguage(tag, ['en', 'zh']) === 'zh' ? 'zh' : 'en'
}
