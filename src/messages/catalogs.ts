import { maxPasswordBytes, minPasswordBytes } from '../login/passwords/password-length.ts'
import english from './en.json' with { type: 'json' }
import type { Texts } from './texts.ts'
// In go-admin's words where it has a message for the same case.
import chinese from './zh.json' with { type: 'json' }

/** The languages that Postern ships, by language tag (RFC 5646). */
type ShippedLanguage = 'en' | 'zh'

export const catalogs: Readonly<Record<ShippedLanguage, Texts>> = {
  en: filled(english),
  zh: filled(chinese),
}

function filled(texts: Texts): Texts {
  const length = texts['password-length']
    .replace('{min}', `${minPasswordBytes}`)
    .replace('{max}', `${maxPasswordBytes}`)
  return { ...texts, 'password-length': length }
}
