import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TLSSocket, TlsOptions } from 'node:tls'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  type Certificates,
  createCertificates,
  type IssuedCertificate,
} from '../support/certificates.ts'
import { ok, startRecordingUpstream } from '../support/recording-upstream.ts'
import { startPostern } from '../support/start-postern.ts'
import { until } from '../support/until.ts'

const get = 'GET /api/v1/public/a'

let ours: Certificates
let foreign: Certificates
beforeAll(async () => {
  ours = await createCertificates()
  foreign = await createCertificates()
})
afterAll(async () => {
  await ours.remove()
  await foreign.remove()
})

interface Presented {
  readonly self?: boolean
  readonly tls?: string
  readonly name?: string
  readonly days?: number
}

async function startTarget(issued: IssuedCertificate, options: TlsOptions = {}) {
  const cert = await readFile(issued.certificate)
  const upstream = await startRecordingUpstream({
    cert,
    key: await readFile(issued.key),
    ...options,
  })
  onTestFinished(upstream.close)
  return upstream
}

function startWith(targets: readonly string[], settings: Readonly<Record<string, unknown>>) {
  return startPostern({ config: { upstreams: { backend: { targets, ...settings } } } })
}

describe('an https target', () => {
  test('whose certificate the authority vouches for is spoken to', async () => {
    const target = await startTarget(ours)
    const postern = await startWith([target.origin], { tls: { caFile: ours.authority } })

    const answer = await postern.call(get, { as: 'editor' })

    expect(answer.json()).toEqual({ ok: true })
    expect(target.requests.map((one) => one.values('host'))).toEqual([[`localhost:${target.port}`]])
  })

  // T214
  test.each([
    ['signed by nobody that the system knows', {}, /SELF_SIGNED_CERT_IN_CHAIN|LEAF_SIGNATURE/],
    ['signed by itself', { self: true }, /DEPTH_ZERO_SELF_SIGNED_CERT/],
    ['of another authority', { tls: 'foreign' }, /UNABLE_TO_VERIFY_LEAF_SIGNATURE/],
    ['for another name', { tls: 'ours', name: 'other.test' }, /ERR_TLS_CERT_ALTNAME_INVALID/],
    ['that has expired', { tls: 'ours', days: -1 }, /CERT_HAS_EXPIRED/],
  ])('with a certificate %s gets nothing, and the log says why', async (_, how, code) => {
    const { self, tls, name, days }: Presented = how
    const itself = { certificate: ours.authority, key: ours.authorityKey }
    const target = await startTarget(self ? itself : await ours.issue(name ?? 'localhost', days))
    const caFile = tls === 'foreign' ? foreign.authority : ours.authority
    const postern = await startWith([target.origin], tls === undefined ? {} : { tls: { caFile } })

    const answer = await postern.call(get, { as: 'editor' })

    expect(answer.status).toBe(502)
    expect(answer.json()).toMatchObject({ code: 502, msg: 'the service cannot be reached' })
    expect(answer.body).not.toMatch(/certificate|CERT|localhost/)
    expect(target.bytes()).toBe(0)
    const line =
      postern
        .logText()
        .split('\n')
        .find((one) => one.includes('"outcome"')) ?? ''
    expect(JSON.parse(line)).toMatchObject({ outcome: 'upstream-untrusted', upstream: 'backend' })
    expect(JSON.parse(line).reason).toMatch(code)
  })

  test('that nobody can vouch for is left for another one', async () => {
    const [expired, well] = [
      await startTarget(await ours.issue('localhost', -1)),
      await startTarget(ours),
    ]
    const postern = await startWith([expired.origin, well.origin], {
      tls: { caFile: ours.authority },
    })

    const statuses = [1, 2, 3, 4].map(
      async () => (await postern.call(get, { as: 'editor' })).status,
    )

    expect(await Promise.all(statuses)).toEqual([200, 200, 200, 200])
  })

  test('may have a certificate for another name, when that is configured', async () => {
    const target = await startTarget(await ours.issue('orders.internal'))
    const postern = await startWith([target.origin], {
      tls: { caFile: ours.authority, serverName: 'orders.internal' },
    })

    expect((await postern.call(get, { as: 'editor' })).status).toBe(200)
    expect(target.requests.map((one) => one.values('host'))).toEqual([[`localhost:${target.port}`]])
  })

  test('by address needs a certificate for that address', async () => {
    const [named, addressed] = [
      await startTarget(ours),
      await startTarget(await ours.issue('127.0.0.1')),
    ]
    const settings = { tls: { caFile: ours.authority } }
    const at = (port: number) => startWith([`https://127.0.0.1:${port}`], settings)

    expect((await (await at(named.port)).call(get, { as: 'editor' })).status).toBe(502)
    expect((await (await at(addressed.port)).call(get, { as: 'editor' })).status).toBe(200)
  })

  test('that asks for a certificate gets ours', async () => {
    const names: unknown[] = []
    const target = await startTarget(ours, {
      ca: ours.authorityText,
      requestCert: true,
      rejectUnauthorized: true,
    })
    target.answerWith((socket) => {
      names.push((socket as TLSSocket).getPeerCertificate().subject.CN)
      socket.write(ok)
    })
    const client = await ours.issue('postern.test')
    const tls = { caFile: ours.authority, certFile: client.certificate, keyFile: client.key }
    const [with_, without] = [
      await startWith([target.origin], { tls }),
      await startWith([target.origin], { tls: { caFile: ours.authority } }),
    ]

    expect((await with_.call(get, { as: 'editor' })).status).toBe(200)
    expect((await without.call(get, { as: 'editor' })).status).toBe(502)
    expect(names).toEqual(['postern.test'])
  })

  // A client that takes the name to verify from the Host header would verify what the caller says.
  test('is verified by its own name, whatever Host the client sends', async () => {
    const seen: unknown[] = []
    const evil = await startTarget(await ours.issue('evil.test'), {
      SNICallback(name, done) {
        seen.push(name)
        done(null)
      },
    })
    const well = await startTarget(ours, {
      SNICallback(name, done) {
        seen.push(name)
        done(null)
      },
    })
    const settings = { host: 'client', tls: { caFile: ours.authority }, breaker: { failures: 100 } }
    const fooled = await startWith([evil.origin], settings)
    const postern = await startWith([well.origin], settings)
    let connections = 0
    well.answerWith((socket, request) => {
      if (!socket.listenerCount('timeout')) connections++
      socket.on('timeout', () => {})
      expect(request.values('host')).toHaveLength(1)
      socket.write(ok)
    })

    const raw = (name: string) => ({ as: 'editor', host: name })
    expect((await fooled.call(get, raw('evil.test'))).status).toBe(502)
    for (const name of ['evil.test', 'localhost', 'other.test:8443', 'evil.test']) {
      expect((await postern.call(get, raw(name))).status).toBe(200)
    }

    expect(evil.bytes()).toBe(0)
    expect(new Set(seen)).toEqual(new Set(['localhost']))
    expect(connections).toBe(1)
    expect(well.requests.map((one) => one.values('host')[0])).toEqual([
      'evil.test',
      'localhost',
      'other.test:8443',
      'evil.test',
    ])
  })

  test('is verified when it is asked about its health', async () => {
    const expired = await startTarget(await ours.issue('localhost', -1))
    const well = await startTarget(ours)
    const healthCheck = { path: '/health', intervalMs: 100, unhealthyAfter: 1 }
    const tls = { caFile: ours.authority }
    await startWith([expired.origin, well.origin], { tls, healthCheck, host: 'shop.test' })

    await until(() => well.requests.length >= 2)

    expect(expired.bytes()).toBe(0)
    expect(well.requests[0]?.values('host')).toEqual(['shop.test'])
  })
})

describe('files for TLS to an upstream', () => {
  test.each([
    ['that is not there', { caFile: 'none.pem' }, /none\.pem: cannot be read \(ENOENT\)/],
    ['that holds no certificate', { caFile: 'key' }, /key: contains no PEM certificate/],
    [
      'of a key that is no key',
      { certFile: 'cert', keyFile: 'cert' },
      /contains no PEM private key/,
    ],
    [
      'of a key that is another one',
      { certFile: 'cert', keyFile: 'other' },
      /does not match the certificate/,
    ],
  ])('with one %s: it does not start, and says so', async (_, files, message) => {
    const other = await ours.issue('localhost')
    const paths: Record<string, string> = {
      key: ours.key,
      cert: ours.certificate,
      other: other.key,
    }
    const tls = Object.fromEntries(
      Object.entries(files).map(([name, file]) => [name, paths[file] ?? join('/tmp', file)]),
    )

    await expect(startWith(['https://localhost:1'], { tls })).rejects.toThrow(
      new RegExp(message.source.replace(/^key/, '.*key')),
    )
  })
})
