import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect, inject, onTestFinished, test } from 'vitest'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { type KeyFiles, keysOf, newKey } from '../support/keys.ts'
import { startRecordingUpstream } from '../support/recording-upstream.ts'
import { until } from '../support/until.ts'

const main = join(import.meta.dirname, '..', '..', 'src', 'main.ts')

async function workplace(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-rotation-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  return directory
}

/** Runs the real command beside the gateways, and gives what it answered. */
async function postern(cwd: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [main, ...args], { cwd })
  return stdout.trim()
}

async function write(directory: string, files: KeyFiles): Promise<void> {
  await mkdir(join(directory, 'keys'))
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(directory, 'keys', name), text, { mode: 0o600 })
  }
}

async function startOn(directory: string, count: number): Promise<GatewayProcess[]> {
  const upstream = await startRecordingUpstream()
  onTestFinished(upstream.close)
  const config = {
    application: { mode: 'dev', host: '127.0.0.1', port: 0, dataDirectory: inject('sharedData') },
    ops: { port: 0 },
    jwt: { keyDirectory: join(directory, 'keys') },
    login: { perAddressPerMinute: 1_000_000, failuresPerAccount: 1_000_000 },
    policy: { directory: join(process.cwd(), 'policies') },
    upstreams: { backend: { targets: [upstream.origin] } },
    routes: [{ path: '/', upstream: 'backend', access: 'authenticated' }],
    shutdown: { graceMs: 0, idleMs: 0, deadlineMs: 2000 },
  }
  return Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const gateway = await startGatewayProcess(join(directory, `${index}.yaml`), config)
      onTestFinished(async () => void (await gateway.stop()))
      return gateway
    }),
  )
}

async function logIn({ publicPort }: GatewayProcess): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${publicPort}/api/v1/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      username: 'editor',
      password: inject('passwords')['editor'],
      uuid: '-',
      code: '-',
    }),
  })
  return ((await answer.json()) as { token: string }).token
}

async function isGood({ publicPort }: GatewayProcess, token: string): Promise<boolean> {
  const headers = { Authorization: `Bearer ${token}` }
  const answer = await fetch(`http://127.0.0.1:${publicPort}/x`, { headers })
  return ((await answer.json()) as { ok?: boolean }).ok === true
}

test('two gateways rotate by the commands alone, under load, and refuse nobody', async () => {
  const cwd = await workplace()
  await write(cwd, { 'old.pem': newKey().privatePem, signer: 'old' })
  const gateways = await startOn(cwd, 2)
  const [one, two] = gateways as [GatewayProcess, GatewayProcess]
  const first = await logIn(one)
  let rotating = true
  const outcomes = { good: 0, refused: 0 }
  async function lane(from: GatewayProcess, to: GatewayProcess): Promise<void> {
    while (rotating) {
      const good = await isGood(to, await logIn(from))
      outcomes[good ? 'good' : 'refused']++
      await pause(150)
    }
  }
  const lanes = Promise.all([lane(one, two), lane(two, one)])
  onTestFinished(() => {
    rotating = false
    return lanes.then(() => {})
  })
  const everywhere = (holds: (state: Awaited<ReturnType<typeof keysOf>>) => boolean) =>
    until(async () => (await Promise.all(gateways.map(keysOf))).every(holds))

  await postern(cwd, 'keys', 'generate', '--out', 'keys', '--kid', 'new', '--alg', 'EdDSA')
  await everywhere(({ keys }) => keys.length === 2)
  await postern(cwd, 'keys', 'use', 'new', 'keys')
  await everywhere(({ signer }) => signer === 'new')
  // However slow the machine: some of them with the new key.
  const before = outcomes.good
  await until(() => outcomes.refused > 0 || outcomes.good >= before + 4)
  rotating = false
  await lanes
  const beforeRemoval = await isGood(two, first)
  await rm(join(cwd, 'keys', 'old.pem'))
  await everywhere(({ keys }) => keys.length === 1)

  expect(outcomes.refused).toBe(0)
  expect([beforeRemoval, await isGood(one, first), await isGood(two, first)]).toEqual([
    true,
    false,
    false,
  ])
  expect(await isGood(two, await logIn(one))).toBe(true)
})

// Security, fail modes: a key that is missing, short or unreadable is no start.
test.each([
  ['no such directory', undefined, 'cannot be read (ENOENT)'],
  ['an empty file', '', 'a.pem: not a PEM file'],
  [
    'no private key for the signer',
    newKey().publicPem,
    'signer: the named key has no private part',
  ],
])('a gateway does not start with %s', async (_, text, reason) => {
  const cwd = await workplace()
  if (text !== undefined) await write(cwd, { 'a.pem': text, signer: 'a' })

  await expect(startOn(cwd, 1)).rejects.toThrow(reason)
})
