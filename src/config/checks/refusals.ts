import { subject } from '../../kernel/quote.ts'
import { didYouMean } from '../../kernel/suggest.ts'
import { catalogs } from '../../messages/catalogs.ts'
import { withParents } from '../../messages/spoken-texts.ts'
import type { Report } from '../reading/report.ts'
import type { Draft } from '../schema/schema.ts'

const kinds = Object.keys(catalogs.en)

/** Own texts are for kinds and languages that exist: a misspelled one would never be shown. */
export function checkRefusals({ refusals }: Draft, report: Report): void {
  const tags = new Map(Object.keys(catalogs).map((tag) => [tag, tag]))
  const own = new Map<string, string>()
  for (const [tag, texts] of Object.entries(refusals?.messages ?? {})) {
    const at = `refusals.messages.${tag}`
    const before = own.get(tag.toLowerCase())
    if (before !== undefined) report.problem(at, ` is the same language as ${before}`)
    own.set(tag.toLowerCase(), tag)
    tags.set(tag.toLowerCase(), tag)
    for (const kind of Object.keys(texts ?? {})) {
      if (kinds.includes(kind)) continue
      const hint = didYouMean(kind, kinds) || '; docs/refusals.md#refusals lists them all'
      const message = `${at}: ${subject(kind)} is not a kind of message${hint}`
      report.problemAt(report.placeOf(`${at}.${kind}`), message)
    }
  }

  const at = 'refusals.language'
  const language = refusals?.language
  if (language === undefined || report.hasProblem(at)) return
  if (withParents(language.toLowerCase()).some((tag) => tags.has(tag))) return
  const known = [...tags.values()]
  const hint = didYouMean(language, known) || '; add its texts under refusals.messages'
  report.problem(at, `: ${subject(language)} has no texts (languages: ${known.join(', ')})${hint}`)
}
