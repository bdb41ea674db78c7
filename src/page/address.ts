import { readOwnPath } from '../admission/own-path.ts'
import { queryWithoutToken } from '../gateway/carriers.ts'
import { chooseLanguage, type Language } from './language.ts'

export type PageAddress = ReturnType<typeof readAddress>

/** What the address of one of the page's requests says. */
export function readAddress(query: string, acceptLanguage: string, usual: Language) {
  const given = new URLSearchParams(query)
  const chosen = given.get('lang')
  const language = chooseLanguage(chosen, acceptLanguage, usual)
  return {
    language,
    /** Whether the reader chose the language; then links keep it. */
    isChosen: chosen === language,
    /** Where to go after the login. */
    to: ownTarget(given.get('to') ?? ''),
    /** The kind of refusal that brought the browser here. */
    error: given.get('error') ?? undefined,
    notice: given.get('notice') ?? undefined,
    sound: given.get('captcha') === 'audio',
    /** The encrypted captcha text of a picture or a recording. */
    sealed: (given.get('text') ?? '').slice(0, 256),
  }
}

/**
 * A path of this host, without a token: in the address of a page a token would get into logs, and one
 * of an attacker would act instead of the cookie.
 */
export function ownTarget(target: string): string | undefined {
  const own = readOwnPath(target)
  if (own === undefined) return undefined
  const mark = own.indexOf('?')
  if (mark === -1) return own
  const query = queryWithoutToken(own.slice(mark + 1))
  return query === '' ? own.slice(0, mark) : `${own.slice(0, mark)}?${query}`
}

type Change = Partial<Pick<PageAddress, 'language' | 'to' | 'notice' | 'sound'>>

/** A link to one of the page's paths that keeps where to go, the chosen language and the captcha. */
export function linkTo(path: string, address: PageAddress, change: Change = {}): string {
  const { language, isChosen, to, sound } = { ...address, ...change }
  const query = new URLSearchParams({
    ...(to !== undefined && { to }),
    ...((isChosen || change.language !== undefined) && { lang: language }),
    ...(sound && { captcha: 'audio' }),
    ...(change.notice !== undefined && { notice: change.notice }),
  }).toString()
  return query === '' ? path : `${path}?${query}`
}
