import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '../../test/support/redis-server.ts'
import { type Server, startServer } from '../run/background.ts'
import { createPosternPeers } from '../run/postern-peers.ts'
import type { Stores } from '../run/stores.ts'

interface PosternParts {
  /** What Node is started with. */
  readonly main: string
  readonly stores: () => Promise<Stores>
  readonly directory: string
  readonly upstreamPort: number
}

/** The Postern of the other benchmarks, with changes to its configuration. */
export async function startPostern(
  { main, stores, ...places }: PosternParts,
  change: (text: string) => string,
): Promise<Server> {
  const port = await freePort()
  const [postern] = createPosternPeers({ main, version: '', hasWorkers: true, stores })
  if (postern === undefined) throw new Error('no Postern to start')
  const setting = { ...places, port, tls: false, certificate: '', key: '' }
  const launch = await postern.prepare(setting)
  const file = join(places.directory, 'postern.yaml')
  await writeFile(file, change(await readFile(file, 'utf8')))
  return startServer({ ...launch, port, output: join(places.directory, 'output') })
}
