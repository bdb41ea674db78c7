import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Launch, Peer, Setting } from './peer.ts'
import { fileOfPeers } from './places.ts'

/** Proxies on Node that check nothing. */
export const nodePeers: readonly Peer[] = [
  {
    name: 'bare',
    title: 'bare node:http + undici',
    kind: 'plain',
    version: () => `node ${process.version}, undici ${packageVersion('undici')}`,
    absent: () => undefined,
    prepare: async (setting) => launchNode('bare.mjs', setting),
  },
]

/** A Node program of `bench/peers`, told by its environment where to listen and whom to ask. */
export function launchNode(
  file: string,
  { port, upstreamPort, tls, certificate, key }: Setting,
  more: Readonly<Record<string, string>> = {},
): Launch {
  return {
    program: process.execPath,
    args: [fileOfPeers(file)],
    env: {
      PORT: String(port),
      UPSTREAM: `http://127.0.0.1:${upstreamPort}`,
      ...(tls && { CERTIFICATE: certificate, KEY: key }),
      ...more,
    },
  }
}

/** The version of a package as the peers get it, or `undefined`. */
export function packageVersion(name: string): string | undefined {
  const paths = createRequire(fileOfPeers('bare.mjs')).resolve.paths(name) ?? []
  for (const path of paths) {
    try {
      return JSON.parse(readFileSync(`${path}/${name}/package.json`, 'utf8')).version
    } catch {
      // Not there: the next place.
    }
  }
  return undefined
}
