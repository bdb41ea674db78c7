import { createLru } from '../kernel/lru.ts'
import { bestLanguage } from './language.ts'
import { type OwnTexts, textsByLanguage } from './spoken-texts.ts'
import type { MessageKind } from './texts.ts'

/** A text for a client, and the headers that say how it was chosen. */
export interface Message {
  readonly text: string
  readonly headers: readonly string[]
}

/** All messages for one client. */
type MessageTable = Readonly<Record<MessageKind, Message>>

export type Messages = ReturnType<typeof createMessages>

interface MessageSettings {
  /** The language of `usual`. */
  readonly language: string
  readonly messages: OwnTexts
}

/** Browsers send a few dozen different headers; an attacker can send any number. */
const remembered = { headers: 500, length: 100 }

export function createMessages(
  { language, messages }: MessageSettings,
  cors: { readonly origins: readonly string[] },
) {
  // It replaces the header that CORS has set.
  const vary = cors.origins.length === 0 ? 'Accept-Language' : 'Origin, Accept-Language'
  const tables = new Map<string, MessageTable>()
  for (const [tag, texts] of textsByLanguage(messages, language)) {
    const entries = Object.entries(texts).map(([kind, { text, language }]) => [
      kind,
      { text, headers: ['Content-Language', language, 'Vary', vary] },
    ])
    tables.set(tag, Object.fromEntries(entries) as MessageTable)
  }
  const usualTag = language.toLowerCase()
  const usual = tables.get(usualTag) as MessageTable
  const tags: readonly [string, ...string[]] = [usualTag, ...tables.keys()]
  const known = createLru<MessageTable>(remembered.headers)

  return {
    /** For clients that ask for no language. */
    usual,
    /** In the language that these headers (name, value, name, value …) ask for. */
    chosenBy(rawHeaders: readonly string[]) {
      const header = acceptLanguageIn(rawHeaders)
      if (header === undefined) return usual
      const before = known.get(header)
      if (before !== undefined) return before
      const table = tables.get(bestLanguage(header, tags)) ?? usual
      if (header.length <= remembered.length) known.set(header, table)
      return table
    },
  }
}

const headerName = 'accept-language'

/** RFC 9110 5.3: several lines are one list. */
function acceptLanguageIn(rawHeaders: readonly string[]): string | undefined {
  let found: string | undefined
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string
    if (name.length !== headerName.length || name.toLowerCase() !== headerName) continue
    const value = rawHeaders[at + 1] as string
    found = found === undefined ? value : `${found},${value}`
  }
  return found
}
