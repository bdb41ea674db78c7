import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { posternFlags } from '../run/node-flags.ts'
import type { Peer } from '../run/peer.ts'
import { checkout } from '../run/places.ts'
import { treeOf, usageOf } from '../run/processes.ts'
import { prove } from '../run/proof.ts'
import { callerRole, createRules, permitted } from '../run/rules.ts'
import { fill } from '../run/template.ts'

const peerOf = (kind: Peer['kind']): Peer => ({
  name: 'it',
  title: 'it',
  kind,
  version: () => '',
  absent: () => undefined,
  prepare: async () => ({ program: '', args: [] }),
})

async function listening(handler: (request: IncomingMessage, reply: ServerResponse) => void) {
  const server = createServer(handler).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** What the upstream says: what arrived. */
const said = (seen: Readonly<Record<string, unknown>>) =>
  JSON.stringify({ user: '', role: '', scope: '', credentials: 'no', path: '', ...seen })

describe('the proof that a peer does its job', () => {
  test('is given by a plain proxy that passes the call on', async () => {
    const port = await listening(({ url }, reply) => reply.end(said({ path: url })))

    await expect(prove(peerOf('plain'), port, false)).resolves.toBeUndefined()
  })

  test('is refused to a checking one that lets everything through', async () => {
    const seen = { user: '1000', role: callerRole, scope: '3' }
    const port = await listening(({ url }, reply) => reply.end(said({ ...seen, path: url })))

    await expect(prove(peerOf('checked'), port, false)).rejects.toThrow('no token is let through')
  })

  test('is refused to one that believes the identity that a client claims', async () => {
    const port = await listening(({ url, headers }, reply) =>
      reply.end(said({ user: headers['x-user-id'], role: callerRole, scope: '3', path: url })),
    )

    await expect(prove(peerOf('checked'), port, false)).rejects.toThrow('the user arrives as 1')
  })

  test('is refused to one that hands the token on', async () => {
    const seen = { user: '1000', role: callerRole, scope: '3', credentials: 'yes' }
    const port = await listening(({ url }, reply) => reply.end(said({ ...seen, path: url })))

    await expect(prove(peerOf('checked'), port, false)).rejects.toThrow('the token arrives')
  })

  test('is refused to one that fails instead of refusing', async () => {
    const seen = { user: '1000', role: callerRole, scope: '3' }
    const port = await listening((request, reply) => {
      if ('x-user-id' in request.headers) reply.end(said({ ...seen, path: request.url }))
      else reply.writeHead(500).end()
    })

    await expect(prove(peerOf('checked'), port, false)).rejects.toThrow('answered with 500')
  })
})

describe.runIf(process.platform === 'linux')('what the kernel says of a process', () => {
  test('holds the time of children that have ended', () => {
    const before = usageOf(treeOf(process.pid))
    const spin = 'const end = Date.now() + 300; while (Date.now() < end);'
    execFileSync(process.execPath, ['-e', spin])
    const after = usageOf(treeOf(process.pid))

    expect(after.cpuSeconds).toBeGreaterThan(before.cpuSeconds)
    expect(after.residentBytes).toBeGreaterThan(1e6)
  })

  test('is nothing for one that is not there', () => {
    expect(usageOf(treeOf(2 ** 30))).toEqual({ cpuSeconds: 0, residentBytes: 0 })
  })
})

describe('the table of rules', () => {
  test.each([10, 100, 1000, 10_000, 100_000])('has %i rules, none twice, and the caller’s', (n) => {
    const rules = createRules(n)
    const texts = rules.map(({ role, method, path }) => `${role} ${method} ${path}`)

    expect(new Set(texts).size).toBe(n)
    expect(texts).toContain(`${callerRole} POST ${permitted.collection}`)
    const at = texts.indexOf(`${callerRole} GET ${permitted.collection}/:id`)
    expect(at / n).toBeGreaterThan(0.4)
    expect(at / n).toBeLessThan(0.8)
  })
})

test('Postern is measured with the options of its image', () => {
  const [, options = ''] =
    /exec node (.*) \/app\/dist\/main\.js/.exec(
      readFileSync(join(checkout, 'Dockerfile'), 'utf8'),
    ) ?? []

  expect(options.split(' ')).toEqual([...posternFlags])
})

describe('a configuration file', () => {
  const template = 'port {{port}}\n  {{tls}} secure {{key}}\n{{plain}} open'

  test('is filled, with the lines for what clients speak', () => {
    expect(fill(template, { tls: false, port: 1, key: 'k' })).toBe('port 1\nopen')
    expect(fill(template, { tls: true, port: 1, key: 'k' })).toBe('port 1\n  secure k')
  })

  test('is refused when something in it has no value', () => {
    expect(() => fill('{{port}}', { tls: false })).toThrow('nothing is given for {{port}}')
  })
})
