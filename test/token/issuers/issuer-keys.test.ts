import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { fetchKeys, type KeySource } from '../../../src/token/issuers/fetch-keys.ts'
import { getBytes } from '../../../src/token/issuers/get-bytes.ts'
import { openIssuers } from '../../../src/token/issuers/open-issuers.ts'
import { createCertificates } from '../../support/certificates.ts'
import { type IssuerServer, startIssuer } from '../../support/issuer-server.ts'
import { until } from '../../support/until.ts'

async function secureIssuer() {
  const certificates = await createCertificates()
  onTestFinished(certificates.remove)
  return { issuer: await startIssuer(certificates), certificates }
}

function fetchFrom({ issuer, jwksUri }: IssuerServer, change: Partial<KeySource> = {}) {
  const source = { issuer, jwksUri, algorithms: ['ES256'], ...change } as const
  return fetchKeys(source, new AbortController().signal)
}

async function fileWith(text: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-issuer-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const file = join(directory, 'token')
  await writeFile(file, text)
  return file
}

describe('fetching the keys of an issuer', () => {
  test('trusts the authority of the configuration, and no unknown one', async () => {
    const { issuer, certificates } = await secureIssuer()

    const { keys } = await fetchFrom(issuer, { caFile: certificates.authority })

    expect(keys.map(({ kid }) => kid)).toEqual(['first'])
    await expect(fetchFrom(issuer)).rejects.toThrow()
  })

  test('finds them by discovery, for which an issuer may end with a slash', async () => {
    const issuer = await startIssuer()
    const slash = `${issuer.issuer}/`

    expect((await fetchFrom(issuer, { jwksUri: undefined })).keys).toHaveLength(1)
    issuer.discovery = { issuer: slash }
    const { keys } = await fetchFrom(issuer, { jwksUri: undefined, issuer: slash })

    expect(keys).toHaveLength(1)
  })

  test.each([
    [{ issuer: 'https://other.example' }, /names issuer https:..other.example: use it/],
    [{ issuer: undefined }, /names no issuer/],
    [{ jwks_uri: undefined }, /has no jwks_uri/],
    [{ jwks_uri: 'http://sso.example.com/keys' }, /must use https/],
    [{ jwks_uri: 'file:///etc/passwd' }, /must use https/],
    [{ jwks_uri: 'https://user:pw@sso.example.com/' }, /user name or a password/],
  ])('refuses a discovery document with %j', async (discovery, reason) => {
    const issuer = await startIssuer()
    issuer.discovery = discovery

    await expect(fetchFrom(issuer, { jwksUri: undefined })).rejects.toThrow(reason)
    expect(issuer.keyRequests).toEqual([])
  })

  test('sends the token of its file, read again each time', async () => {
    const issuer = await startIssuer()
    const tokenFile = await fileWith('first-token\n')
    await fetchFrom(issuer, { tokenFile })
    await writeFile(tokenFile, 'second-token')
    await fetchFrom(issuer, { tokenFile })

    expect(issuer.keyRequests.map(({ authorization }) => authorization)).toEqual([
      'Bearer first-token',
      'Bearer second-token',
    ])
  })

  test('gives the token to no address that only the discovery document names', async () => {
    const [issuer, other] = [await startIssuer(), await startIssuer()]
    issuer.discovery = { jwks_uri: other.jwksUri }

    await fetchFrom(issuer, { jwksUri: undefined, tokenFile: await fileWith('secret') })

    expect(other.keyRequests).toHaveLength(1)
    expect(other.keyRequests[0]?.['authorization']).toBeUndefined()
  })

  test.each(['two lines\nof text', '', 'a\r\nX-Role-Key: admin'])(
    'refuses a file that is not one token: %j',
    async (text) => {
      const issuer = await startIssuer()

      await expect(fetchFrom(issuer, { tokenFile: await fileWith(text) })).rejects.toThrow(
        /does not contain one token/,
      )
    },
  )

  test('follows no redirect', async () => {
    const [issuer, other] = [await startIssuer(), await startIssuer()]
    issuer.answer = (_, response) => {
      response.writeHead(302, { location: other.jwksUri }).end()
    }

    await expect(fetchFrom(issuer)).rejects.toThrow('HTTP 302: redirects are not followed')
    expect(other.keyRequests).toEqual([])
  })

  test.each([
    ['500', 'HTTP 500'],
    ['401', 'HTTP 401'],
    ['204', 'HTTP 204'],
  ])('fails with the status %s', async (status, reason) => {
    const issuer = await startIssuer()
    issuer.answer = (_, response) => void response.writeHead(Number(status)).end()

    await expect(fetchFrom(issuer)).rejects.toThrow(reason)
  })

  test('fails if the server switches to another protocol', async () => {
    const issuer = await startIssuer()
    issuer.answer = ({ socket }) => {
      socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
    }

    await expect(fetchFrom(issuer)).rejects.toThrow('HTTP 101')
  })

  test('stops reading at 256 KiB, although the server sends 30 MB', async () => {
    const issuer = await startIssuer()
    let sent = 0
    issuer.answer = async (_, response) => {
      response.on('error', () => {})
      while (sent < 30_000_000 && !response.destroyed) {
        sent += 65_536
        if (!response.write(Buffer.alloc(65_536, ' '))) await pause(1)
      }
    }

    await expect(fetchFrom(issuer)).rejects.toThrow('larger than 256 KiB')
    expect(sent).toBeLessThan(30_000_000)
  })

  test('fails on 20,000 keys', async () => {
    const issuer = await startIssuer()
    const keys = Array.from({ length: 20_000 }, () => ({}))
    issuer.answer = (_, response) => void response.end(JSON.stringify({ keys }))

    await expect(fetchFrom(issuer)).rejects.toThrow('20000 keys; at most 100 are accepted')
  })

  test('gives up in time, whether the server hangs or sends a byte now and then', async () => {
    const [silent, slow] = [await startIssuer(), await startIssuer()]
    silent.answer = () => {}
    slow.answer = (_, response) => {
      const timer = setInterval(() => response.write(' '), 20)
      response.on('close', () => clearInterval(timer))
    }
    const options = { secureContext: undefined, bearer: undefined, timeoutMs: 300 }
    const get = ({ jwksUri }: IssuerServer) =>
      getBytes(new URL(jwksUri), { ...options, signal: new AbortController().signal })

    const results = await Promise.allSettled([get(silent), get(slow)])

    const reasons = results.map((each) => String((each as PromiseRejectedResult).reason))
    expect(reasons).toEqual(Array(2).fill('Error: timeout: no complete answer within 300 ms'))
  })

  test('ends when it is aborted', async () => {
    const issuer = await startIssuer()
    issuer.answer = () => {}
    const aborting = new AbortController()
    const { jwksUri } = issuer
    const fetching = fetchKeys({ issuer: issuer.issuer, jwksUri, algorithms: [] }, aborting.signal)
    aborting.abort()

    await expect(fetching).rejects.toThrow()
  })
})

describe('the issuers of a gateway', () => {
  const usual = {
    ...{ audience: ['postern'], userIdPrefix: 'sso:', name: 'sso' },
    algorithms: ['ES256'],
    claims: { userId: 'sub', roleKey: 'roles' },
    roles: [{ value: 'editors', role: 'editor' }],
    ...{ maxLifetimeSeconds: 3600, maxKeyAgeSeconds: 3600, waitMs: 1000 },
  } as const

  function openFor({ issuer, jwksUri }: IssuerServer, cooldownSeconds = 0.05) {
    const lines: (readonly [string, object])[] = []
    const write = (fields: object, text: string) => void lines.push([text, fields])
    const times = { refreshSeconds: 0.1, cooldownSeconds }
    const opened = openIssuers([{ ...usual, ...times, issuer, jwksUri }], {
      info: write,
      warn: write,
    })
    onTestFinished(opened.close)
    return { ...opened, lines, state: () => opened.states()[0] }
  }

  test('are open at once, and have keys when those have come', async () => {
    const issuer = await startIssuer()
    const { state, lines } = openFor(issuer)

    expect(state()).toMatchObject({ usable: false, keyAgeSeconds: null, keys: [] })
    await until(() => state()?.usable === true)

    expect(state()).toMatchObject({
      ...{ name: 'sso', issuer: issuer.issuer, keyAgeSeconds: 0, lastError: undefined },
      keys: [{ kid: 'first', algorithm: 'ES256' }],
    })
    expect(lines).toEqual([
      ['issuer keys loaded', expect.objectContaining({ issuer: 'sso', skipped: [] })],
    ])
  })

  test('keep their keys while unreachable, and say so once and when that has ended', async () => {
    const issuer = await startIssuer()
    const { state, lines } = openFor(issuer)
    await until(() => state()?.usable === true)

    issuer.answer = (_, response) => void response.writeHead(503).end()
    await until(() => (state()?.fetches.failed ?? 0) >= 3)
    expect(state()).toMatchObject({ usable: true, lastError: 'HTTP 503' })
    issuer.answer = undefined
    await until(() => state()?.lastError === undefined)

    expect(lines.map(([text]) => text)).toEqual([
      'issuer keys loaded',
      'issuer keys could not be fetched',
      'issuer reachable again',
    ])
    expect(lines[1]?.[1]).toEqual({ issuer: 'sso', reason: 'HTTP 503' })
  })

  test('name the reason if no address of a host answers', async () => {
    const issuer = await startIssuer()
    await issuer.stop()
    const { state } = openFor(issuer)

    await until(() => state()?.lastError !== undefined)

    expect(state()?.lastError).toMatch(/ECONNREFUSED/)
  })
})
