import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { policyFiles } from '../../test/support/policy-files.ts'
import { freePort } from '../../test/support/redis-server.ts'
import { testSecret } from '../../test/support/tokens.ts'
import { createEndedTokens } from './ended-tokens.ts'
import { posternFlags } from './node-flags.ts'
import type { Launch, Peer, Setting } from './peer.ts'
import { checkout, fileOfPeers } from './places.ts'
import { createRules } from './rules.ts'
import type { Stores } from './stores.ts'
import { fill } from './template.ts'

/** The Postern that is measured. */
export interface Postern {
  /** What Node is started with. */
  readonly main: string
  readonly version: string
  /** Whether it has the setting application.workers. */
  readonly hasWorkers: boolean
  /** Redis and PostgreSQL, started when first needed. */
  readonly stores: () => Promise<Stores>
}

const variants = [
  { name: 'postern', title: 'Postern', rules: 10_000, workers: 1 },
  {
    name: 'postern-2-workers',
    title: 'Postern, 2 workers',
    rules: 10_000,
    workers: 2,
    only: ['get', 'ids', 'double', 'thousand'],
  },
  { name: 'postern-10-rules', title: 'Postern', rules: 10, workers: 1, only: ['get', 'ids'] },
  {
    name: 'postern-100000-rules',
    title: 'Postern',
    rules: 100_000,
    workers: 1,
    only: ['get', 'ids'],
  },
] as const

/** Postern with everything on, and what it is compared with itself by. */
export function createPosternPeers({ main, version, hasWorkers, stores }: Postern): Peer[] {
  const ended = createEndedTokens()

  async function prepare(rules: number, workers: number, setting: Setting): Promise<Launch> {
    const { directory } = setting
    await mkdir(join(directory, 'policies'), { recursive: true })
    const lines = createRules(rules).map(({ role, path, method }) => `${role}, ${path}, ${method}`)
    for (const { name, text } of policyFiles(lines)) {
      await writeFile(join(directory, 'policies', name), text)
    }
    // Everybody may log out: that is how tokens are ended here.
    await copyFile(
      join(checkout, 'policies', 'exclusions.yaml'),
      join(directory, 'policies', 'exclusions.yaml'),
    )
    const values = {
      ...setting,
      ...(await stores()),
      opsPort: await freePort(),
      secret: testSecret,
      workers: workers === 1 ? '' : `, workers: ${workers}`,
    }
    const file = join(directory, 'postern.yaml')
    await writeFile(file, fill(await readFile(fileOfPeers('postern.yaml'), 'utf8'), values))
    return { program: process.execPath, args: [...posternFlags, main, 'serve', '--config', file] }
  }

  return variants.map(({ workers, rules, ...variant }) => ({
    ...variant,
    kind: 'ours',
    rules,
    processes: workers,
    version: () => version,
    absent: () =>
      workers > 1 && !hasWorkers ? 'this Postern has no setting application.workers' : undefined,
    prepare: (setting) => prepare(rules, workers, setting),
    ready: ended.hold,
  }))
}
