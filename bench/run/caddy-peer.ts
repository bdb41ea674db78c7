import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Peer } from './peer.ts'
import { fileOfPeers } from './places.ts'
import { fill } from './template.ts'
import { findTool, versionOf } from './tools.ts'

/** Caddy as a plain proxy. */
export const caddyPeer: Peer = {
  name: 'caddy',
  title: 'Caddy',
  kind: 'plain',
  version: () => `Caddy ${versionOf('caddy')}`,
  absent: () => (findTool('caddy') === undefined ? 'Caddy is not installed' : undefined),
  async prepare(setting) {
    const file = join(setting.directory, 'Caddyfile')
    await writeFile(file, fill(await readFile(fileOfPeers('Caddyfile'), 'utf8'), { ...setting }))
    return {
      program: findTool('caddy') ?? 'caddy',
      args: ['run', '--adapter', 'caddyfile', '--config', file],
      // One core, as every other peer has one process or thread; it is also what costs it least.
      env: {
        GOMAXPROCS: '1',
        XDG_DATA_HOME: setting.directory,
        XDG_CONFIG_HOME: setting.directory,
      },
    }
  },
}
