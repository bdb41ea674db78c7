import { randomInt, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'

/*
 * A stand-in for your SMS provider: it prints messages instead of sending them. It limits what it sends
 * and how often a code can be tried, because each message costs money and each code is short.
 */

const codeLifetimeMs = 5 * 60_000
const pauseMs = 60_000
const maxTries = 3

/** Users by phone number. A real service asks its database. */
const users = {
  '+15550100': { id: 'u-100', name: 'sms-ann', role: 'editor' },
}

/** `send` delivers a text to a number. */
export function createSmsService({ key, send = print }) {
  /** The last code of each known number: `users` bounds their count. */
  const codes = new Map()

  function sendCode(phone) {
    const last = codes.get(phone)
    const mayBeSent = last === undefined || Date.now() - last.sentAt >= pauseMs
    if (!Object.hasOwn(users, phone) || !mayBeSent) return {}
    const code = String(randomInt(1_000_000)).padStart(6, '0')
    codes.set(phone, { code, sentAt: Date.now(), tries: 0 })
    send(phone, `Your login code is ${code}.`)
    return {}
  }

  function verify(phone, code) {
    const sent = codes.get(phone)
    if (sent === undefined || Date.now() - sent.sentAt > codeLifetimeMs) return {}
    if (++sent.tries > maxTries || !isSame(sent.code, String(code))) return {}
    codes.delete(phone)
    return { user: users[phone] }
  }

  return createServer(async (request, response) => {
    const reply = (status, value) => {
      response.writeHead(status, { 'Content-Type': 'application/json' })
      response.end(JSON.stringify(value))
    }
    try {
      if (!isSame(request.headers.authorization ?? '', `Bearer ${key}`)) return reply(401, {})
      const { phone, code } = JSON.parse(await text(request))
      if (request.url === '/send') return reply(200, sendCode(phone))
      if (request.url === '/verify') return reply(200, verify(phone, code))
      return reply(404, {})
    } catch {
      return reply(400, {})
    }
  })
}

function isSame(given, expected) {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)]
  return one.length === other.length && timingSafeEqual(one, other)
}

function print(phone, message) {
  console.log(`SMS to ${phone}: ${message}`)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const key = process.env['SMS_SERVICE_KEY']
  if (!key) throw new Error('set SMS_SERVICE_KEY to the key that the login module sends')
  createSmsService({ key }).listen(8025, '127.0.0.1')
}
