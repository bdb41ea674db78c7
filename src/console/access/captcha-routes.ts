import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ValueOf } from '../../config/schema/type.ts'
import type { OfferedCaptcha } from '../../login/captcha/captcha.ts'
import type { LoginButton } from '../../login/redirect-login.ts'
import type { Throttle } from '../../login/throttle.ts'
import { Problem } from '../problem.ts'
import type * as answers from './answers.ts'
import type { FindCallerOrigin } from './caller-origin.ts'
import { inConsole } from './oidc-routes.ts'

interface CaptchaRouteParts {
  /** Absent in modes without captcha. */
  readonly captchas:
    | {
        readonly offer: () => Promise<OfferedCaptcha>
        readonly picture: (sealed: string) => Promise<Buffer | undefined>
        readonly recording: (sealed: string, language: 'en' | 'zh') => Promise<Buffer | undefined>
      }
    | undefined
  readonly throttle: Pick<Throttle, 'captcha'>
  readonly originOf: FindCallerOrigin
  /** Logins by single sign-on. */
  readonly buttons: readonly LoginButton[]
  readonly hasPassword: boolean
  /** The path of this scope. */
  readonly prefix: string
}

/** What a login form needs before anyone has logged in. */
export function addCaptchaRoutes(scope: FastifyInstance, parts: CaptchaRouteParts): void {
  const { captchas, throttle, originOf, prefix } = parts

  /** Drawing costs more than most requests, so it counts as a captcha. */
  const count = (request: FastifyRequest) =>
    throttle.captcha({ address: originOf(request).address, foreign: false })

  scope.get('/providers', { config: { access: 'anyone' } }, async () => {
    const { buttons, hasPassword: password } = parts
    const providers = buttons.map(({ name, path }) => ({ name, url: inConsole(path) }))
    return { password, captcha: captchas !== undefined, providers } satisfies ValueOf<
      typeof answers.providers
    >
  })

  if (captchas === undefined) return

  scope.get('/captcha', { config: { access: 'anyone' } }, async (request) => {
    await count(request)
    const { id, sealed } = await captchas.offer()
    const png = (await captchas.picture(sealed))?.toString('base64')
    const audio = `${prefix}/captcha.wav?text=${encodeURIComponent(sealed)}`
    const data = `data:image/png;base64,${png}`
    return { id, data, audio } satisfies ValueOf<typeof answers.captcha>
  })

  scope.get('/captcha.wav', { config: { access: 'anyone' } }, async (request, reply) => {
    await count(request)
    const { lang } = request.query as { readonly lang?: unknown }
    const bytes = await captchas.recording(textOf(request), lang === 'zh' ? 'zh' : 'en')
    if (bytes === undefined) throw new Problem(404, 'no such captcha')
    return reply.type('audio/wav').send(bytes)
  })
}

function textOf({ query }: FastifyRequest): string {
  const { text } = query as { readonly text?: unknown }
  return typeof text === 'string' ? text : ''
}
