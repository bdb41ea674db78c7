import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { testSecret } from '../../test/support/tokens.ts'
import type { Launch, Peer, Setting } from './peer.ts'
import { fileOfPeers } from './places.ts'
import { createRules } from './rules.ts'
import { fill } from './template.ts'
import { findTool, versionOf } from './tools.ts'

const common = {
  version: () => `HAProxy ${versionOf('haproxy')}`,
  absent: () => (findTool('haproxy') === undefined ? 'HAProxy is not installed' : undefined),
}

/** HAProxy as a plain proxy, and doing the same job with tables of three sizes. */
export const haproxyPeers: readonly Peer[] = [
  {
    ...common,
    name: 'haproxy',
    title: 'HAProxy',
    kind: 'plain',
    prepare: (setting) => prepare('haproxy.cfg', setting),
  },
  ...[100, 1000, 10_000].map((rules): Peer => {
    return {
      ...common,
      name: `haproxy-${rules}`,
      title: 'HAProxy + jwt_verify + map_reg',
      kind: 'checked',
      rules,
      // One table is enough for what does not depend on its size.
      ...(rules !== 1000 && { only: ['get', 'ids', 'denied'] }),
      async prepare(setting) {
        const lines = createRules(rules).map(({ role, method, path }) => {
          return `^${role}\\|${method}\\|${path.replace(':id', '[^/]+')}$ allow\n`
        })
        await writeFile(join(setting.directory, 'rules.map'), lines.join(''))
        return prepare('haproxy-jwt.cfg', setting)
      },
    }
  }),
]

async function prepare(template: string, setting: Setting): Promise<Launch> {
  const { directory, certificate, key } = setting
  const both = await Promise.all([certificate, key].map((file) => readFile(file, 'utf8')))
  await writeFile(join(directory, 'both.pem'), both.join(''))
  const file = join(directory, 'haproxy.cfg')
  const values = { ...setting, secret: testSecret }
  await writeFile(file, fill(await readFile(fileOfPeers(template), 'utf8'), values))
  return { program: findTool('haproxy') ?? 'haproxy', args: ['-db', '-f', file] }
}
