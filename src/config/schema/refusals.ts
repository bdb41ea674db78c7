import { LANGUAGE_TAG, MESSAGE_KIND, NOT_BLANK } from './patterns.ts'
import { choice, reloading, string, text } from './setting-builders.ts'
import { Type } from './type.ts'

const ownTexts = Type.Record(
  Type.String({ pattern: MESSAGE_KIND }),
  string({ minLength: 1, maxLength: 500, pattern: NOT_BLANK }, 'Text of one kind of message.'),
  { additionalProperties: false, description: 'Own texts in this language, by kind of message.' },
)

export const refusalsSettings = reloading('Responses to refused requests.', {
  notPermittedCode: Type.Enum([401, 403], {
    default: 401,
    description:
      'Value of code in the body when the role lacks permission. The HTTP status does not depend on it.',
  }),
  status: choice(
    ['envelope', 'real'],
    'HTTP status of refusals: envelope (200, the code is in the body) or real (401 with WWW-Authenticate, 403, 429, 400). The body is the same.',
  ),
  language: text(
    'en',
    'Language of messages for clients whose Accept-Language names none that Postern has: en, zh or a language of refusals.messages.',
    LANGUAGE_TAG,
  ),
  messages: Type.Record(Type.String({ pattern: LANGUAGE_TAG }), ownTexts, {
    additionalProperties: false,
    default: {},
    maxProperties: 50,
    description:
      'Own texts by language tag (en, zh, de, pt-BR). They replace the shipped ones; a text that a language lacks comes from its parent (zh for zh-TW), then from refusals.language.',
  }),
})
