import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { policyFiles } from '../../test/support/policy-files.ts'
import { freePort } from '../../test/support/redis-server.ts'
import { testSecret } from '../../test/support/tokens.ts'
import type { Launch, Peer, Setting } from './peer.ts'
import { fileOfPeers } from './places.ts'
import { createRules } from './rules.ts'
import { fill } from './template.ts'

/** The stores that a Postern of this run shares with the others. */
export interface Stores {
  readonly redis: string
  readonly database: string
}

/** Postern as it is in `checkout`, with everything on. The stores are started when first needed. */
export function createPosternPeers(
  checkout: string,
  stores: () => Promise<Stores>,
): readonly Peer[] {
  async function prepare(rules: number, setting: Setting): Promise<Launch> {
    const { directory } = setting
    await mkdir(join(directory, 'policies'), { recursive: true })
    const lines = createRules(rules).map(({ role, path, method }) => `${role}, ${path}, ${method}`)
    for (const { name, text } of policyFiles(lines)) {
      await writeFile(join(directory, 'policies', name), text)
    }
    const values = {
      ...setting,
      ...(await stores()),
      opsPort: await freePort(),
      secret: testSecret,
    }
    const file = join(directory, 'postern.yaml')
    await writeFile(file, fill(await readFile(fileOfPeers('postern.yaml'), 'utf8'), values))
    const main = join(checkout, 'src', 'main.ts')
    return { program: process.execPath, args: [main, 'serve', '--config', file] }
  }

  return [
    {
      name: 'postern',
      title: 'Postern',
      kind: 'ours',
      rules: 10_000,
      version: () => `node ${process.version}`,
      absent: () => undefined,
      prepare: (setting) => prepare(10_000, setting),
    },
  ]
}
