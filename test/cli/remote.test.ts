import { readdir, readFile, stat } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { takeGateway } from '../../src/cli/commands/gateway-option.ts'
import { allCommands } from '../../src/cli/commands/overview.ts'
import { drawn } from '../../src/cli/remote/captcha.ts'
import { drawCaptcha } from '../../src/login/captcha/captcha-image.ts'
import { calls } from '../../src/operations/offered/offered.ts'
import {
  apiPath,
  strangerCookie as cookie,
  type Handle,
  startStranger,
} from '../support/console-stranger.ts'
import { remotePostern } from '../support/remote-postern.ts'
import { runCommand } from '../support/run-command.ts'

const answered = 'application/vnd.postern.answered+json'

function saying(body: unknown, status = 200, type = answered): Handle {
  return (_, response) => {
    response.writeHead(status, { 'content-type': type })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
}

/** What `postern config print` shows as it is. */
function document(value: object): object {
  return { told: '', answer: { document: value } }
}

describe('--gateway', () => {
  test('may be anywhere before --, once, and with a value', () => {
    const options = { gateway: 'https://gw', 'ca-file': undefined, 'allow-http': false }
    expect(takeGateway(['policy', '--gateway', 'https://gw', 'who'], {})).toMatchObject({
      argv: ['policy', 'who'],
      gateway: options,
    })
    expect(takeGateway(['--gateway=https://gw', 'who', '--', '--gateway'], {})).toMatchObject({
      argv: ['who', '--', '--gateway'],
      gateway: options,
    })
    expect(takeGateway(['who'], { POSTERN_GATEWAY: '' }).gateway).toBeUndefined()
    for (const wrong of [
      ['who', '--gateway'],
      ['who', '--gateway', '--output'],
      ['who', '--gateway='],
      ['who', '--gateway', 'a', '--gateway', 'b'],
      ['who', '--ca-file', 'ca.pem'],
      ['who', '--gateway', 'a', '--allow-http=yes'],
    ]) {
      expect(() => takeGateway(wrong, {})).toThrow(/--(gateway|ca-file|allow-http)/)
    }
  })

  test.each([
    ['http://gateway.example.com', 'unencrypted'],
    ['gateway.example.com', 'write a URL'],
    ['ftp://127.0.0.1', 'write a URL'],
    ['https://ann:secret-1@gateway.example.com', 'must not have a password'],
    ['https://gateway.example.com/other', 'write only https://gateway.example.com'],
  ])('refuses %s', async (url, reason) => {
    const { code, out, err } = await runCommand(['user', 'list', '--gateway', url])

    expect([code, out, err.split('\n').length]).toEqual([2, '', 2])
    expect(err).toContain(reason)
    expect(err).not.toContain('secret-1')
  })

  test('says where to log in, and why a console cannot be asked', async () => {
    const machine = await remotePostern('http://127.0.0.1:1')
    const { code, err } = await machine.run(['user', 'list'])
    const unreachable = await machine.logIn('ann', 'secret-1')
    const document = await machine.run(['user', 'list', '--output', 'json'])

    expect([code, err]).toEqual([
      5,
      'postern: not logged in to http://127.0.0.1:1: run "postern gateway login --gateway http://127.0.0.1:1"\n',
    ])
    expect(unreachable.err).toBe(
      'postern: the console http://127.0.0.1:1 did not answer: connection refused; check --gateway\n',
    )
    expect(JSON.parse(document.out)).toMatchObject({ ok: false })
  })
})

describe('a command that the management API does not offer', () => {
  const offered = new Set(calls.map(({ operation }) => operation.name))

  test('says so in one line, and asks no one', async () => {
    const machine = await remotePostern('http://127.0.0.1:1')
    for (const { name, usage, ...spec } of await allCommands()) {
      if (offered.has(name) || name.startsWith('gateway ')) continue
      // A startup file of a shell loads it, wherever POSTERN_GATEWAY points.
      if (name === 'completion') continue
      const needed = spec.arguments.filter(({ optional }) => !optional)
      const values = needed.map(({ choices }) => choices?.[0] ?? 'x')
      const options = Object.entries(spec.options).flatMap(([option, { required, value }]) =>
        required === undefined ? [] : [`--${option}=${value}`],
      )
      const { code, out, err } = await machine.run([...name.split(' '), ...options, ...values])

      expect([name, code, out]).toEqual([name, 2, ''])
      expect(err).toMatch(new RegExp(`^postern: "${name}" does not work with --gateway: .+\\n$`))
    }
  })

  test.each([
    ['policy who GET /orders --config x.yaml', '--config does not work with --gateway: '],
    ['policy check policies --config x.yaml', '--config does not work with --gateway: '],
    ['policy status --forget lost', '--forget does not work with --gateway: '],
    ['user add ben --role clerk --password-stdin', '--password-stdin does not work with --gate'],
    ['policy check policies --against git:main', 'with --gateway, --against must be live or a '],
    ['policy diff a b', 'with --gateway, FROM must be live or a revision'],
    ['policy propose policies -m more', '--over is required with --gateway: '],
    ['policy push policies -m more', '--over is required with --gateway: '],
    ['policy push policies --over live', '--message is required with --gateway: '],
    [
      'policy push policies -m more --over live --key a.pem',
      '--key does not work with --gateway: ',
    ],
    ['policy push -m more', '-m is for a directory: name the policy directory to publish, or '],
    ['policy push r-0123456789ab -m more', '-m is for a directory: name the policy directory to '],
    ['policy push live', 'with --gateway, DIR|REVISION must be a revision, such as '],
    ['policy rollback live', 'with --gateway, REVISION must be a revision, such as '],
    ['session end --all', '--all does not work with --gateway: '],
    ['config check postern.yaml', 'FILE does not work with --gateway: '],
  ])('%s: one line says what', async (typed, reason) => {
    const machine = await remotePostern('http://127.0.0.1:1')

    const { code, out, err } = await machine.run(typed.split(' '))

    expect([code, out, err.split('\n').length]).toEqual([2, '', 2])
    expect(err).toContain(`postern: ${reason}`)
  })

  test('keeps the usage errors and the help of the command', async () => {
    const machine = await remotePostern('http://127.0.0.1:1')
    for (const typed of ['policy who GET', 'policy who --help', 'user list --outputs json']) {
      expect(await machine.run(typed.split(' '))).toEqual(await runCommand(typed.split(' ')))
    }
  })
})

describe('a session', () => {
  test('is in a file of its own, which only its owner can read', async () => {
    const { state, address } = await startStranger(saying(document({})))
    const folder = join(state, 'postern', 'sessions')
    const [file = ''] = await readdir(folder)

    expect((await stat(join(folder, file))).mode & 0o777).toBe(0o600)
    expect((await stat(folder)).mode & 0o777).toBe(0o700)
    const text = await readFile(join(folder, file), 'utf8')
    expect(JSON.parse(text)).toEqual({ gateway: address, cookie, username: 'ann' })
    expect(text).not.toContain('secret-1')
  })

  test('reaches no other gateway', async () => {
    const one = await startStranger(saying(document({ name: 'one' })))
    const other = await startStranger(saying(document({ name: 'other' })))
    const asked = await one.run(['user', 'list', '--gateway', other.address])

    expect(asked.code).toBe(5)
    expect(asked.err).toContain(`not logged in to ${other.address}`)
    const answers = (await one.run(['config', 'print'])).out
    expect([answers, one.seen.at(-1)?.headers.cookie]).toEqual(['name: one\n', cookie])
    expect(other.seen.at(-1)?.url).toBe(`${apiPath}login`)
  })

  test.each([
    [401, 'token-expired', 'has expired or was revoked: run "postern gateway login'],
    [403, 'not-permitted', 'your console role does not allow it'],
    [403, 'confirmation-needed', 'needs a password entered within five minutes'],
  ])('refused with %i %s: one line', async (status, kind, reason) => {
    const refusal = { ok: false, errors: [{ message: 'no', kind }] }
    const { run } = await startStranger(saying(refusal, status, 'application/json'))
    const { code, out, err } = await run(['user', 'list'])

    expect([code, out, err.split('\n').length]).toEqual([5, '', 2])
    expect(err).toContain(reason)
  })
})

describe('a program that pretends to be a console', () => {
  test('redirects no one, and gets no session elsewhere', async () => {
    const other = await startStranger(saying(document({ name: 'stolen' })))
    const { run } = await startStranger((_, response) => {
      response.writeHead(307, { location: `${other.address}${apiPath}user/list\u009b2J` })
      response.end()
    })
    const before = other.seen.length

    const { code, out, err } = await run(['user', 'list'])

    expect([code, out, other.seen.length]).toEqual([5, '', before])
    expect(err).toContain('it redirects to')
    expect(err).not.toContain('\u009b')
  })

  test('sends no control codes to the terminal', async () => {
    const nasty = 'a\u001b]0;title\u0007\u202eb\rc\u009b2J\n1,2\r\n'
    const whole = { ...document({ name: nasty }), told: nasty }
    const { run } = await startStranger(saying(whole))
    const { code, out, err } = await run(['config', 'print'])

    const shown = 'a\\u{1b}]0;title\\u{7}\\u{202e}b\\u{d}c\\u{9b}2J\n1,2\r\n'
    expect([code, err]).toEqual([0, shown])
    const control = /(?![\r\n])[\p{Cc}\p{Cf}]/u
    for (const each of ['text', 'json']) {
      expect((await run(['config', 'print', '--output', each])).out).not.toMatch(control)
    }
    expect(out).toContain('2J')
    const refused = await startStranger(
      saying({ errors: [{ message: nasty }] }, 503, 'application/json'),
    )
    expect((await refused.run(['user', 'list'])).err).not.toMatch(/[^\P{Cc}\n]/u)
  })

  test.each([
    ['no JSON', saying('<html>')],
    ['nothing', saying({ told: '' })],
    ['an ending that no answer has', saying({ told: '', answer: { outcome: 'maybe' } })],
    ['a failure that no operation has', saying({ told: '', failure: { kind: 'constructor' } })],
    ['a failure without a reason', saying({ told: '', failure: { kind: 'declined' } })],
    ['what the command cannot show', saying(document({ name: 'one' }))],
    ['another type', saying(document([]), 200, 'text/html')],
    ['a closed connection', (request: IncomingMessage) => void request.socket.destroy()],
    [
      'half of an answer',
      (_: IncomingMessage, response: ServerResponse) => {
        response.writeHead(200, { 'content-length': '1000', 'content-type': answered })
        response.write('{"told":""', () => response.destroy())
      },
    ],
  ])('that answers with %s is an error in one line', async (_, handle) => {
    const { run } = await startStranger(handle)
    const { code, out, err } = await run(['user', 'list'])

    expect([code, out, err.split('\n').length]).toEqual([5, '', 2])
    expect(err).toMatch(/^postern: /)
  })

  test('gets neither a password as an argument nor a cookie with another name', async () => {
    const server = createServer((request, response) => {
      request.resume()
      if (request.url?.endsWith('providers')) response.end('{"password":true,"captcha":false}')
      else {
        response.setHeader('set-cookie', 'session=1; Path=/')
        response.end('{"username":"ann","role":"reader"}')
      }
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const machine = await remotePostern(`http://127.0.0.1:${port}`)

    const { code, err } = await machine.logIn('ann', 'secret-1')

    expect([code, err]).toEqual([5, expect.stringContaining('did not answer like the console')])
    expect(await readdir(machine.state)).toEqual([])
  })
})

describe('the picture of a captcha', () => {
  test('is drawn with blocks, 120 columns wide', async () => {
    const png = await drawCaptcha('A7')
    const lines = drawn(`data:image/png;base64,${png.toString('base64')}`)?.split('\n') ?? []

    expect(lines).toHaveLength(21)
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(120)
    expect(lines.join('')).toMatch(/^[ ▀▄█]+$/)
  })

  test('of another kind is refused', () => {
    const large = Buffer.alloc(100)
    Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').copy(large)
    large.writeUInt32BE(100_000, 16)
    large.writeUInt32BE(100_000, 20)
    large[24] = 8
    for (const data of ['', 'data:image/png;base64,AAAA', 'https://x/y.png']) {
      expect(drawn(data)).toBeUndefined()
    }
    expect(drawn(`data:image/png;base64,${large.toString('base64')}`)).toBeUndefined()
  })
})
