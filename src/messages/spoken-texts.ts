import { catalogs } from './catalogs.ts'
import type { MessageKind, Texts } from './texts.ts'

/** Own texts by language tag. They replace those of the catalogs. */
export type OwnTexts = Readonly<Record<string, Readonly<Partial<Texts>>>>

/** A text, and the language that it is really in. */
interface Spoken {
  readonly text: string
  readonly language: string
}

/**
 * Every language by its tag in lower case, with all texts: what a language lacks comes from its parent
 * (`zh` of `zh-CN`), then from `usual`, then from English.
 */
export function textsByLanguage(
  own: OwnTexts,
  usual: string,
): ReadonlyMap<string, Readonly<Record<MessageKind, Spoken>>> {
  const sources = new Map<string, { readonly language: string; readonly texts: Partial<Texts> }>()
  for (const [language, texts] of [...Object.entries(catalogs), ...Object.entries(own)]) {
    const tag = language.toLowerCase()
    sources.set(tag, { language, texts: { ...sources.get(tag)?.texts, ...texts } })
  }

  function find(kind: MessageKind, chain: readonly string[]): Spoken {
    for (const tag of chain) {
      const source = sources.get(tag)
      const text = source?.texts[kind]
      if (source !== undefined && text !== undefined) return { text, language: source.language }
    }
    return { text: catalogs.en[kind], language: 'en' }
  }

  const kinds = Object.keys(catalogs.en) as MessageKind[]
  return new Map(
    [...sources.keys(), usual.toLowerCase()].map((tag) => {
      const chain = [...withParents(tag), ...withParents(usual.toLowerCase())]
      const texts = Object.fromEntries(kinds.map((kind) => [kind, find(kind, chain)]))
      return [tag, texts as Record<MessageKind, Spoken>]
    }),
  )
}

/** `zh-hant-tw`, `zh-hant`, `zh`. */
export function withParents(tag: string): readonly string[] {
  const parts = tag.split('-')
  return parts.map((_, at) => parts.slice(0, parts.length - at).join('-'))
}
