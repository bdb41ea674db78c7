import type { ErrorText } from '../http/error-text.ts'
import { Fault, Refusal, type RefusalKind } from '../kernel/errors.ts'
import { type Language, pageTexts, type Texts } from './language.ts'
import type { Message } from './layout.ts'

/** Texts for a person at a form, where those of the API speak to the author of a client. */
const ownTexts: Readonly<Partial<Record<RefusalKind, keyof Texts>>> = {
  'bad-login-request': 'missing',
  'bad-password-request': 'missingPassword',
  'wrong-captcha': 'wrongCaptcha',
  'cross-site-cookie': 'fromElsewhere',
}

/** The text and status of a refusal or a fault. Anything else is a bug and is thrown again. */
export function createExplain(errorText: ErrorText) {
  return (error: unknown, language: Language): Message => {
    if (!(error instanceof Refusal) && !(error instanceof Fault)) throw error
    const { status, text, headers } = errorText(error, pageTexts[language].tag)
    const own = error instanceof Refusal ? ownTexts[error.kind] : undefined
    const ownText = own === undefined ? undefined : pageTexts[language][own]
    return {
      status,
      headers,
      text: typeof ownText === 'string' ? ownText : sentence(text, language),
      isError: true,
    }
  }
}

export type Explain = ReturnType<typeof createExplain>

/** Messages of the API are phrases; on a page they are sentences. */
function sentence(phrase: string, language: Language): string {
  const text = phrase.charAt(0).toUpperCase() + phrase.slice(1)
  if (/[.!?。！？]$/.test(text)) return text
  return `${text}${language === 'zh' ? '。' : '.'}`
}
