import { once } from 'node:events'
import { copyFile, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  type Certificates,
  createCertificates,
  type IssuedCertificate,
} from '../support/certificates.ts'
import { request, sendRaw } from '../support/raw-client.ts'
import { type PosternOptions, startPostern, type TestPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'
import { until } from '../support/until.ts'
import { echoing } from '../support/websocket-upstream.ts'

const get = 'GET /api/v1/public/a'

let certificates: Certificates
let other: Certificates
beforeAll(async () => {
  certificates = await createCertificates()
  other = await createCertificates()
})
afterAll(async () => {
  await certificates.remove()
  await other.remove()
})

const tls = () => ({ ca: certificates.authorityText, servername: 'localhost' })

/** A gateway with a pair in a directory of its own. */
async function startWithTls({ config, ...options }: PosternOptions = {}, settings = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'postern-pair-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const [certFile, keyFile] = [join(directory, 'tls.crt'), join(directory, 'tls.key')]
  const write = async (pair: IssuedCertificate) => {
    await copyFile(pair.certificate, certFile)
    await copyFile(pair.key, keyFile)
  }
  await write(certificates)
  const postern = await startPostern({
    ...options,
    config: { ...config, tls: { certFile, keyFile, ...settings } },
  })
  return { postern, directory, certFile, keyFile, write }
}

async function readyz(postern: TestPostern) {
  const answer = await fetch(`http://127.0.0.1:${postern.opsPort}/readyz?verbose`)
  return (await answer.json()) as { ready: boolean; tls: Record<string, unknown> }
}

async function metric(postern: TestPostern, line: RegExp): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${postern.opsPort}/metrics`)).text()
  return Number(line.exec(text)?.[1])
}

/** The fingerprint of what the gateway presents now. */
async function presented(port: number): Promise<string> {
  const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const { fingerprint256 } = socket.getPeerCertificate()
  socket.destroy()
  return fingerprint256
}

async function openTls(postern: TestPostern): Promise<TLSSocket> {
  const socket = connectTls({ port: postern.publicPort, host: '127.0.0.1', ...tls() })
  socket.on('error', () => {})
  await once(socket, 'secureConnect')
  return socket
}

describe('a public port with a certificate', () => {
  test('takes requests over TLS and tells upstreams so', async () => {
    const { postern } = await startWithTls()

    const answer = await postern.call(get, { as: 'editor', tls: tls() })

    expect(answer.json()).toEqual({ ok: true })
    expect(postern.upstream.requests[0]?.values('x-forwarded-proto')).toEqual(['https'])
  })

  test('keeps its framing: several requests in one write, one body that never ends', async () => {
    const { postern } = await startWithTls()
    const headers = [`Authorization: Bearer ${tokenOf('editor')}`]
    const twice = request(get, headers).repeat(2)
    const smuggled = request('POST /api/v1/articles', [
      ...headers,
      'Content-Length: 4',
      'Transfer-Encoding: chunked',
    ])

    const good = await sendRaw(postern.publicPort, twice, { expected: 2, tls: tls() })
    const bad = await sendRaw(postern.publicPort, `${smuggled}0\r\n\r\n`, { tls: tls() })

    expect(good.answers.map(({ status }) => status)).toEqual([200, 200])
    expect(bad.answers.map(({ status }) => status)).toEqual([400])
    expect(postern.upstream.requests).toHaveLength(2)
  })

  test('ends the connection of an HTTP/1.0 client whose answer breaks off, and goes on', async () => {
    const { postern } = await startWithTls()
    postern.upstream.answerWith((socket) => {
      socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n')
    })
    const bytes = request(get, [`Authorization: Bearer ${tokenOf('editor')}`])

    const cut = await sendRaw(postern.publicPort, bytes.replace('HTTP/1.1', 'HTTP/1.0'), {
      expected: 2,
      tls: tls(),
    })

    expect(cut.closed).toBe(true)
    expect(postern.logText()).toContain('"outcome":"cut-by-upstream"')
  })

  test('opens tunnels', async () => {
    const { postern } = await startWithTls({ rules: ['editor, /ws, GET'] })
    postern.upstream.answerWith(echoing())
    const socket = await openTls(postern)
    const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']
    socket.write(
      request('GET /ws', [
        `Authorization: Bearer ${tokenOf('editor')}`,
        'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
        ...upgrade,
      ]),
    )
    const [head] = (await once(socket, 'data')) as [Buffer]
    socket.write(Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69]))
    const [frame] = (await once(socket, 'data')) as [Buffer]

    expect(head.toString()).toMatch(/^HTTP\/1\.1 101 /)
    expect(frame.toString()).toContain('hi')
    socket.destroy()
  })

  test('offers HTTP/2 and HTTP/1.1, and nothing older than TLS 1.2', async () => {
    const { postern } = await startWithTls()
    const over = (options: object) =>
      new Promise<string>((resolve) => {
        const there = { port: postern.publicPort, host: '127.0.0.1', ...tls() }
        const socket = connectTls({ ...there, ...options }, () => {
          resolve(`${socket.getProtocol()} ${socket.alpnProtocol}`)
          socket.destroy()
        })
        socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(String(code)))
      })
    const old = { minVersion: 'TLSv1', ciphers: 'ALL:@SECLEVEL=0' }

    expect(await over({ ALPNProtocols: ['http/1.1'] })).toBe('TLSv1.3 http/1.1')
    expect(await over({ maxVersion: 'TLSv1.2' })).toBe('TLSv1.2 false')
    expect(await over({ ALPNProtocols: ['h2'] })).toBe('TLSv1.3 h2')
    expect(await over({ ALPNProtocols: ['h3'] })).toMatch(/ALERT_NO_APPLICATION_PROTOCOL/)
    expect(await over({ ...old, maxVersion: 'TLSv1.1' })).toMatch(/PROTOCOL_VERSION/)
  })

  test('takes TLS 1.3 only, when that is configured, also after a new certificate', async () => {
    const { postern, write } = await startWithTls({}, { minVersion: 'TLSv1.3' })
    const before = await presented(postern.publicPort)
    await write(await certificates.issue('localhost'))
    await until(async () => (await presented(postern.publicPort)) !== before)

    const failure = await new Promise<unknown>((resolve) => {
      const there = { port: postern.publicPort, host: '127.0.0.1', ...tls() }
      const socket = connectTls({ ...there, maxVersion: 'TLSv1.2' }, () => resolve('connected'))
      socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code))
    })

    expect(failure).toMatch(/PROTOCOL_VERSION/)
  })

  test('cuts off whoever does not speak TLS, and goes on', async () => {
    const { postern } = await startWithTls({ config: { limits: { headersTimeoutMs: 300 } } })
    const silent = connect({ port: postern.publicPort, host: '127.0.0.1' })
    silent.on('error', () => {})
    const gone = once(silent, 'close')

    const plain = await sendRaw(postern.publicPort, request(get))
    const noise = await sendRaw(postern.publicPort, Buffer.alloc(4096, 0x16))
    await gone

    expect([plain.answers, plain.closed, plain.bytes.length]).toEqual([[], true, 0])
    expect([noise.answers, noise.closed]).toEqual([[], true])
    expect((await postern.call(get, { as: 'editor', tls: tls() })).status).toBe(200)
    expect(await metric(postern, /^postern_tls_handshake_failures_total (\d+)/m)).toBe(3)
  })

  test('ends in order: what never said hello is cut, what is under way is answered', async () => {
    const { postern } = await startWithTls()
    const pending: (() => void)[] = []
    postern.upstream.answerWith((socket) => {
      pending.push(() => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'))
    })
    const waiting = postern.call(get, { as: 'editor', tls: tls() })
    const silent = connect({ port: postern.publicPort, host: '127.0.0.1' })
    const idle = await openTls(postern)
    silent.on('error', () => {})
    await until(() => pending.length === 1)
    const cut = [once(silent, 'close'), once(idle, 'close')]

    const closed = postern.close()
    await Promise.all(cut)
    pending[0]?.()

    expect((await waiting).status).toBe(200)
    await closed
  })
})

describe('a certificate that changes while the gateway runs', () => {
  test('is presented to whoever connects next; open connections go on', async () => {
    const { postern, write } = await startWithTls()
    const before = await presented(postern.publicPort)
    const open = await openTls(postern)

    await write(await certificates.issue('localhost'))
    await until(async () => (await presented(postern.publicPort)) !== before)

    open.write(request(get, [`Authorization: Bearer ${tokenOf('editor')}`]))
    const [answer] = (await once(open, 'data')) as [Buffer]
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 /)
    open.destroy()
    expect((await readyz(postern)).tls).toMatchObject({
      names: 'DNS:localhost',
      fingerprint: await presented(postern.publicPort),
      reloads: { ok: 1 },
    })
    expect(await metric(postern, /^postern_tls_reloads_total\{result="ok"\} (\d+)/m)).toBe(1)
  })

  test('is taken in when Kubernetes swaps the link to its directory', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'postern-mount-'))
    onTestFinished(() => rm(directory, { recursive: true, force: true }))
    const issue = async (version: string) => {
      const pair = await certificates.issue('localhost')
      const at = join(directory, version)
      await rm(at, { recursive: true, force: true })
      await mkdtemp(`${at}-`).then((made) => rename(made, at))
      await copyFile(pair.certificate, join(at, 'tls.crt'))
      await copyFile(pair.key, join(at, 'tls.key'))
      await symlink(version, join(directory, '..data_tmp'))
      await rename(join(directory, '..data_tmp'), join(directory, '..data'))
    }
    await issue('..1')
    await symlink('..data/tls.crt', join(directory, 'tls.crt'))
    await symlink('..data/tls.key', join(directory, 'tls.key'))
    const postern = await startPostern({
      config: {
        tls: { certFile: join(directory, 'tls.crt'), keyFile: join(directory, 'tls.key') },
      },
    })
    const before = await presented(postern.publicPort)

    await issue('..2')

    await until(async () => (await presented(postern.publicPort)) !== before)
  })

  const bad: [string, (files: { certFile: string; keyFile: string }) => Promise<void>, RegExp][] = [
    [
      'a key of another',
      async ({ keyFile }) => copyFile(other.key, keyFile),
      /does not match the certificate/,
    ],
    ['no PEM', async ({ certFile }) => writeFile(certFile, 'hello'), /no PEM certificate/],
    ['half a file', async (files) => truncate(files.certFile), /no PEM certificate/],
    ['nothing at all', async ({ keyFile }) => rm(keyFile), /cannot be read \(ENOENT\)/],
    [
      'one that has expired',
      async ({ certFile, keyFile }) => {
        const expired = await certificates.issue('localhost', -1)
        await copyFile(expired.certificate, certFile)
        await copyFile(expired.key, keyFile)
      },
      /has expired/,
    ],
  ]
  test.each(bad)('to %s does not replace the old one, and is told', async (_, spoil, reason) => {
    const { postern, certFile, keyFile, write } = await startWithTls()
    const before = await presented(postern.publicPort)

    await spoil({ certFile, keyFile })
    await until(async () => reason.test(String((await readyz(postern)).tls['lastError'])))

    expect(await presented(postern.publicPort)).toBe(before)
    expect((await postern.call(get, { as: 'editor', tls: tls() })).status).toBe(200)
    expect((await readyz(postern)).ready).toBe(true)
    expect(await metric(postern, /^postern_tls_last_reload_success (\d+)/m)).toBe(0)
    expect(postern.logText()).toContain('new certificate rejected; keeping the current one')
    expect(postern.logText()).not.toContain('BEGIN')
    await write(certificates)
    await until(async () => (await readyz(postern)).tls['lastError'] === undefined)
  })
})

describe('a pair that is no good at the start', () => {
  test.each([
    ['a certificate that is not there', { certFile: 'none' }, /none: cannot be read \(ENOENT\)/],
    ['a key that belongs to another', { keyFile: 'other' }, /does not match the certificate/],
  ])('with %s: it does not start, and says so', async (_, change, message) => {
    const names: Record<string, string> = { none: '/tmp/none', other: other.key }
    const files = { certFile: certificates.certificate, keyFile: certificates.key }
    const changed = Object.entries(change).map(([name, file]) => [name, names[file]])

    const start = startPostern({
      config: { tls: { ...files, ...Object.fromEntries(changed) } },
    })

    await expect(start).rejects.toThrow(message)
  })
})

async function truncate(file: string): Promise<void> {
  const text = await readFile(file, 'utf8')
  await writeFile(file, text.slice(0, text.length / 2))
}
