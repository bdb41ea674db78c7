import { chinese } from './chinese.ts'
import { english } from './english.ts'
import type { Texts } from './texts.ts'

/** The languages that Postern ships, by language tag (RFC 5646). */
type ShippedLanguage = 'en' | 'zh'

export const catalogs: Readonly<Record<ShippedLanguage, Texts>> = { en: english, zh: chinese }
