import type { Returns } from '../admission/return-addresses.ts'
import { addressWithoutToken } from '../gateway/carriers.ts'
import { chooseLanguage, type Language } from './language.ts'

export type PageAddress = ReturnType<typeof readAddress>

/** What the address of one of the page's requests says. */
export function readAddress(
  query: string,
  acceptLanguage: string,
  { language: usual, returns }: { readonly language: Language; readonly returns: Returns },
) {
  const parameters = new URLSearchParams(query)
  const chosen = parameters.get('lang')
  const language = chooseLanguage(chosen, acceptLanguage, usual)
  return {
    language,
    /** Whether the reader chose the language; then links keep it. */
    isChosen: chosen === language,
    /** Where to go after the login. */
    to: withoutToken(returns.read(parameters.get('to') ?? '')),
    /** The kind of refusal that brought the browser here. */
    error: parameters.get('error') ?? undefined,
    notice: parameters.get('notice') ?? undefined,
    sound: parameters.get('captcha') === 'audio',
    /** The encrypted captcha text of a picture or a recording. */
    sealed: (parameters.get('text') ?? '').slice(0, 256),
  }
}

/**
 * Where a page may lead, without a token: in the address of a page a token would get into logs, and one
 * of an attacker would act instead of the cookie.
 */
export function withoutToken(address: string | undefined): string | undefined {
  return address === undefined ? undefined : addressWithoutToken(address)
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
