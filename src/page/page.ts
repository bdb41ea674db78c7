import { readFileSync } from 'node:fs'
import type { OwnResponses } from '../gateway/pipeline.ts'
import type { Reply } from '../gateway/reply.ts'
import type { Received } from '../gateway/stages.ts'
import { Refusal } from '../kernel/errors.ts'
import { createAccountPages } from './account-pages.ts'
import { readByteRange } from './byte-range.ts'
import { createLoginPages } from './login-pages.ts'
import { headerOf } from './navigation.ts'
import { addressOf } from './page-requests.ts'
import type { PageParts } from './parts.ts'
import { type PageFile, replyFile } from './reply-page.ts'

/** The login page and the pages below it. It logs in, out and changes passwords as the API does. */
export function createLoginPage(parts: PageParts): OwnResponses {
  const login = createLoginPages(parts)
  const account = createAccountPages(parts)
  const files = new Map([
    fileOf('text/css; charset=utf-8', new URL('./files/style.css', import.meta.url)),
    // A convenience: it replaces a captcha without losing what was typed.
    fileOf('text/javascript; charset=utf-8', new URL('./files/script.js', import.meta.url)),
    fileOf('image/svg+xml', new URL('./files/icon.svg', import.meta.url)),
    ...(parts.logo ? [['logo', parts.logo] as const] : []),
    ...parts.icons,
  ])

  function file({ call }: Received, reply: Reply): void {
    const found = files.get(call.path.slice(parts.settings.path.length + 1))
    if (found === undefined) throw new Refusal('no-such-endpoint')
    replyFile(reply, found, 'public, max-age=600')
  }

  /** Drawing costs more than most requests, so it counts as a captcha. */
  async function captcha(received: Received, reply: Reply): Promise<void> {
    const foreign = parts.crossSite(received) !== undefined
    await parts.throttle.captcha({ address: received.origin.address, foreign })
    const { sealed, language } = addressOf(received, parts.settings)
    const isSound = received.call.path.endsWith('.wav')
    const bytes = isSound
      ? await parts.captchas?.recording(sealed, language)
      : await parts.captchas?.picture(sealed)
    if (bytes === undefined) throw new Refusal('no-such-endpoint', { reason: 'no such captcha' })
    if (!isSound) return replyFile(reply, { type: 'image/png', bytes }, 'no-store')
    const rangeHeader = headerOf(received.arrival.rawHeaders, 'range') ?? ''
    const range = readByteRange(rangeHeader, bytes.length)
    replyFile(reply, { type: 'audio/wav', bytes }, 'no-store', range)
  }

  return {
    async toAnyone(received, reply) {
      switch (received.endpoint?.name) {
        case 'page':
          return login.show(received, reply)
        case 'page-login':
          return login.submit(received, reply)
        case 'page-captcha':
          return captcha(received, reply)
        default:
          return file(received, reply)
      }
    },
    async toCaller(authorized, reply) {
      switch (authorized.received.endpoint?.name) {
        case 'page-password-form':
          return account.showPassword(authorized, reply)
        case 'page-password':
          return account.submitPassword(authorized, reply)
        case 'page-logout':
          return account.submitLogout(authorized, reply)
        default:
          return account.showLogout(authorized, reply)
      }
    },
  }
}

function fileOf(type: string, place: URL): readonly [string, PageFile] {
  return [place.pathname.replace(/.*\//, ''), { type, bytes: readFileSync(place) }]
}
