import { Type } from '../../config/schema/type.ts'
import { flag, list, nullable, text, time, word } from '../../operations/schema.ts'

const longText = (maxLength: number) => Type.Optional(Type.String({ maxLength }))

/** Who is logged in, and what they may do. */
export const session = Type.Object({
  ...{ id: text, userId: text, username: text, roleKey: text, expiresAt: time },
  role: word('reader', 'author', 'publisher'),
  confirmedUntil: nullable(
    time,
    'Until when changes are allowed; null: confirm the session first.',
  ),
  confirmBy: word('password', 'provider'),
  provider: nullable(text, 'null: the login was by password.'),
  mode: Type.String({ description: 'dev: the gateway is not safe for a network.' }),
  version: text,
  write: Type.Boolean({ description: 'Whether the console changes anything (console.write).' }),
})

/** What a login form sends. Login modules may have fields of their own. */
export const credentials = Type.Object({
  ...{ username: longText(128), password: longText(1024) },
  otp: Type.Optional(Type.String({ description: 'One-time code, if the account has them.' })),
  uuid: Type.Optional(Type.String({ description: 'The ID of a captcha, where logins need one.' })),
  code: Type.Optional(Type.String({ description: 'What is in its picture.' })),
  provider: Type.Optional(Type.String({ description: 'A directory or login module.' })),
})

/** What confirms a session. */
export const confirmation = Type.Object({
  ...{ password: longText(1024), otp: Type.Optional(text) },
})

export const loggedOut = Type.Object({ ok: Type.Literal(true) })

/** What a login form needs. */
export const providers = Type.Object({
  ...{ password: flag, captcha: flag },
  providers: list(Type.Object({ name: text, url: text })),
})

export const captcha = Type.Object({
  id: text,
  data: Type.String({ description: 'A picture as a data: address.' }),
  audio: Type.String({ description: 'The address of a recording.' }),
})
