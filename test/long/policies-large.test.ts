import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { Fault, Invalid } from '../../src/kernel/errors.ts'
import { decide } from '../../src/policy/decide.ts'
import type { CompiledPolicies } from '../../src/policy/engine/decision.ts'
import { createLivePolicies } from '../../src/policy/live.ts'
import {
  createDocument,
  formatDocument,
  type PolicyDocument,
} from '../../src/stores/policies/document/policy-document.ts'
import { largeBytes, readPieces } from '../../src/stores/policies/document/stored-text.ts'
import { openPolicySource } from '../../src/stores/policies/open-policy-source.ts'
import { createPolicySnapshot } from '../../src/stores/policies/policy-snapshot.ts'
import { openPolicyStore, type PolicyStore } from '../../src/stores/policies/policy-store.ts'
import { createPolicyThreads } from '../../src/stores/policies/policy-threads.ts'
import { formatSnapshot } from '../../src/stores/policies/snapshot-text.ts'
import { createRedis } from '../../src/stores/redis/redis.ts'
import { casbinModels } from '../policy/casbin-models.ts'
import { policyFiles } from '../support/policy-files.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { until } from '../support/until.ts'

const prefix = '{test}:'
const timeouts = { prefix, connectTimeoutMs: 2000, commandTimeoutMs: 1000 }
const about = { author: 'ada', message: 'for a test', parent: undefined, now: new Date() }

/** So many rules that a thread takes them in, and one of its own. */
function largeRules(own: string): string[] {
  const rules = Array.from(
    { length: 20_000 },
    (_, at) => `role-${at % 50}, /api/v1/things-${at}/:id, GET`,
  )
  return [...rules, `clerk, /${own}, GET`]
}

const largeDocument = (own: string) => createDocument(policyFiles(largeRules(own)), about)
const first = largeDocument('first')
const second = largeDocument('second')
const third = largeDocument('third')
const sequence = 7

/** Its bytes, as they come from Redis. */
function orderOf(text: string, revision: string) {
  const bytes = new TextEncoder().encode(text)
  // In the middle of anything.
  const pieces = [bytes.slice(0, 100_001), bytes.slice(100_001)]
  return { kind: 'document', pieces, revision, sequence, snapshot: true } as const
}

function filesOrder(files: readonly { readonly name: string; readonly text: string }[]) {
  const encoder = new TextEncoder()
  return {
    kind: 'files',
    files: files.map(({ name, text }) => ({ name, bytes: encoder.encode(text) })),
  } as const
}

function mayClerk(path: string, compiled: CompiledPolicies): boolean {
  return decide({ roleKey: 'clerk', method: 'GET', path }, compiled).allowed
}

describe('a thread for a large policy', () => {
  test('verifies the document, answers by it, and makes the snapshot of it', async () => {
    const threads = createPolicyThreads()

    const thread = threads.start(orderOf(formatDocument(first), first.revision))

    expect(await thread.verified).toBe(first.checksum)
    const compiled = (await thread.compiled) as CompiledPolicies
    expect(compiled).toMatchObject({ revision: first.revision, ruleCount: 20_001 })
    expect([mayClerk('/first', compiled), mayClerk('/second', compiled)]).toEqual([true, false])
    const { files, checksum, revision } = first
    const expected = formatSnapshot({ files, checksum, revision, sequence })
    expect(Buffer.from(await thread.snapshot).toString()).toBe(expected)
    expect(threads.usable()).toBe(true)
  })

  test('takes in one after the other, also after one that was refused', async () => {
    const threads = createPolicyThreads()
    const refused = threads.start(orderOf(formatDocument(second), first.revision))
    await expect(refused.verified).rejects.toThrow(second.revision)

    for (const document of [first, second, third]) {
      const { compiled } = threads.start(orderOf(formatDocument(document), document.revision))
      expect(await compiled).toMatchObject({ revision: document.revision })
    }
  })

  test('takes in two at the same time', async () => {
    const threads = createPolicyThreads()

    const both = [first, second].map((document) =>
      threads.start(orderOf(formatDocument(document), document.revision)),
    )

    const compiled = await Promise.all(both.map((thread) => thread.compiled))
    expect(compiled).toMatchObject([{ revision: first.revision }, { revision: second.revision }])
  })

  test.each([
    ['cut short', formatDocument(first).slice(0, -1), 'not a policy document'],
    ['altered', formatDocument(first).replace('/first', '/other'), 'checksum mismatch'],
    ['that of another revision', formatDocument(second), `it belongs to ${second.revision}`],
  ])('refuses a document that is %s, as Redis being at fault', async (_, text, reason) => {
    const threads = createPolicyThreads()

    const { verified } = threads.start(orderOf(text, first.revision))

    await expect(verified).rejects.toThrow(reason)
    await expect(verified).rejects.toMatchObject({ part: 'redis' })
    expect(threads.usable()).toBe(true)
  })

  test('says what is wrong with files, each problem with its line', async () => {
    const files = policyFiles([...largeRules('first'), 'clerk, /a', 'clerk, no-slash, GET'])

    const { compiled } = createPolicyThreads().start(filesOrder(files))

    const refusal = (await compiled) as Invalid
    expect(refusal).toBeInstanceOf(Invalid)
    expect(refusal.problems.map(({ line }) => line)).toEqual([20_002, 20_003])
  })

  test('leaves to this thread what only casbin answers', async () => {
    const [model, table] = policyFiles(['clerk, /a, GET'])
    const files = [{ name: 'model.conf', text: casbinModels.superuser }, table ?? model]

    const { compiled } = createPolicyThreads().start(
      filesOrder(files.filter((file) => file !== undefined)),
    )

    const policies = (await compiled) as CompiledPolicies
    expect(policies.engine.name).toBe('casbin')
    expect([mayClerk('/a', policies), mayClerk('/b', policies)]).toEqual([true, false])
  })

  test('ends with its signal before it has an answer', async () => {
    const threads = createPolicyThreads()
    const closing = new AbortController()
    const thread = threads.start(orderOf(formatDocument(first), first.revision), closing.signal)

    closing.abort(new Error('closing'))

    for (const awaited of [thread.verified, thread.compiled, thread.snapshot]) {
      await expect(awaited).rejects.toThrow('closing')
    }
    expect(threads.usable()).toBe(true)
  })

  test('makes the snapshot also when it is told to end after its answer', async () => {
    const closing = new AbortController()
    const order = orderOf(formatDocument(first), first.revision)
    const thread = createPolicyThreads().start(order, closing.signal)
    await thread.compiled

    closing.abort()
    thread.end()

    expect((await thread.snapshot).length).toBeGreaterThan(largeBytes)
  })

  test('that dies is a fault, and no other is started', async () => {
    const threads = createPolicyThreads()
    const unnamed = { name: undefined as unknown as string, bytes: new Uint8Array(1) }

    const { compiled } = threads.start({ kind: 'files', files: [unnamed] })

    await expect(compiled).rejects.toBeInstanceOf(Fault)
    await expect(compiled).rejects.toMatchObject({ part: 'policies' })
    expect(threads.usable()).toBe(false)
  })
})

describe('a large policy', () => {
  let redis: RedisServer
  let store: PolicyStore

  beforeAll(async () => {
    redis = await startRedis()
    store = await openPolicyStore({ ...timeouts, url: redis.url })
  })
  afterAll(async () => {
    await store.close()
    await redis.stop()
  })
  beforeEach(async () => void (await redis.client.flushall()))

  async function publish(document: PolicyDocument): Promise<void> {
    await store.publish(document, (await store.head())?.revision, { kind: 'push' })
  }

  async function newDirectory(): Promise<string> {
    const directory = await mkdtemp(join(tmpdir(), 'postern-large-'))
    onTestFinished(() => rm(directory, { recursive: true, force: true }))
    return directory
  }

  async function openSource(policy: object) {
    const lines: string[] = []
    const log = {
      info: () => {},
      warn: (_: object, text: string) => void lines.push(text),
    }
    const source = await openPolicySource({
      policy: { source: 'redis', directory: '', replicaMemory: 86_400, pollSeconds: 60, ...policy },
      redis: { ...timeouts, url: redis.url },
      live: createLivePolicies(),
      log,
      version: '1',
    })
    onTestFinished(source.close)
    return { ...source, lines }
  }

  test('comes off the connection in small pieces, and whole', async () => {
    const client = createRedis({ ...timeouts, url: redis.url })
    onTestFinished(client.close)
    await client.connect()
    const sizes = [1, largeBytes - 1, largeBytes, largeBytes + 1, largeBytes * 2 + 7]
    for (const size of sizes) {
      const stored = Buffer.alloc(size, 'whatever stands there ')
      await redis.client.set('key', stored)

      const pieces = (await readPieces(client, 'key')) ?? []

      expect(Buffer.concat(pieces).equals(stored)).toBe(true)
      expect(Math.max(0, ...pieces.slice(1).map(({ length }) => length))).toBeLessThan(200_000)
    }
    await redis.client.set('key', '')
    expect(Buffer.concat((await readPieces(client, 'key')) ?? [])).toHaveLength(0)
    expect(await readPieces(client, 'no-key')).toBe(undefined)
  })

  test('is replaced whole by the newest, whatever was published meanwhile', async () => {
    await publish(first)
    const source = await openSource({})
    expect(source.revision()).toBe(first.revision)

    for (const document of [second, third, second, third]) await publish(document)

    await until(() => source.revision() === third.revision)
    const current = source.current()
    expect([mayClerk('/third', current), mayClerk('/second', current)]).toEqual([true, false])
    expect(source.state()).toMatchObject({ stale: false, rules: 20_001, engine: 'index' })
    expect(source.lines).toEqual([])
  })

  test('that cannot be used leaves the last good one in force', async () => {
    await publish(first)
    const source = await openSource({ pollSeconds: 1 })
    const head = JSON.stringify({ revision: second.revision, sequence: Date.now() + 60_000 })
    const altered = formatDocument(second).replace('/second', '/others')
    await redis.client.set(`${prefix}policy:rev:${second.revision}`, altered)
    await redis.client.set(`${prefix}policy:head`, head)

    await until(() => source.state().stale)
    expect(source.state().lastError).toContain('checksum mismatch')
    expect(source.revision()).toBe(first.revision)

    await redis.client.set(`${prefix}policy:rev:${second.revision}`, formatDocument(second))
    await until(() => source.revision() === second.revision)
  })

  test('is given up in the middle when the gateway closes, and nothing is said about it', async () => {
    await publish(first)
    const source = await openSource({})
    await publish(second)

    await source.close()

    expect(source.revision()).toBe(first.revision)
    expect(source.lines).toEqual([])
  })

  test('is kept on disk as a small one is', async () => {
    const directory = await newDirectory()
    const snapshot = join(directory, 'policy.snapshot')
    await publish(first)
    const source = await openSource({ snapshot })
    await publish(second)
    await until(() => source.revision() === second.revision)
    await source.close()

    const kept = await createPolicySnapshot(snapshot, { info() {}, warn() {} }).read()

    const { files, checksum, revision, author } = second
    expect(kept?.offer).toEqual({
      files,
      checksum,
      revision,
      author,
      sequence: source.state().sequence,
    })
  })

  test('is kept again when its file is deleted', async () => {
    const snapshot = join(await newDirectory(), 'policy.snapshot')
    await publish(first)
    const source = await openSource({ snapshot, pollSeconds: 1 })
    await until(() => source.state().snapshot?.current === true)
    const content = await readFile(snapshot, 'utf8')

    await rm(snapshot)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 })
    onTestFinished(() => void vi.useRealTimers())

    await until(async () => (await readFile(snapshot, 'utf8').catch(() => '')) === content)
    expect(source.state().reloads).toEqual({ ok: 1, failed: 0 })
    await source.close()
  })

  test('is taken from a directory too, and again when a line of it changes', async () => {
    const directory = await newDirectory()
    const write = async (own: string) => {
      await mkdir(directory, { recursive: true })
      for (const { name, text } of policyFiles(largeRules(own))) {
        await writeFile(join(directory, name), text)
      }
    }
    await write('first')
    const source = await openSource({ source: 'files', directory, pollSeconds: 1 })
    expect(source.revision()).toBe(first.revision)

    await write('second')

    await until(() => source.revision() === second.revision)
    const question = { roleKey: 'clerk', method: 'GET', path: '/second' }
    expect(decide(question, source.current()).rule?.origin).toEqual({
      file: join(directory, 'policy.csv'),
      line: 20_001,
    })
  })

  test('of a directory that cannot be used says why at the start', async () => {
    const directory = await newDirectory()
    const files = policyFiles([...largeRules('first'), 'clerk, /a'])
    for (const { name, text } of files) await writeFile(join(directory, name), text)

    await expect(openSource({ source: 'files', directory })).rejects.toThrow(':20002:')
  })
})
