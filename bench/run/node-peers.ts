import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { casbinEnv, casbinWorkloads } from './casbin-files.ts'
import { nodeFlags } from './node-flags.ts'
import type { Launch, Peer, Setting } from './peer.ts'
import { fileOfPeers } from './places.ts'

/** Proxies on Node that check nothing, and the straightforward stack that does the same job. */
export const nodePeers: readonly Peer[] = [
  {
    name: 'bare',
    title: 'bare node:http + undici',
    kind: 'plain',
    version: () => versions('undici'),
    absent: () => undefined,
    prepare: async (setting) => launch('bare.mjs', setting),
  },
  {
    name: 'fastify-http-proxy',
    title: '@fastify/http-proxy',
    kind: 'plain',
    version: () => versions('@fastify/http-proxy', 'fastify'),
    absent: () => missing('@fastify/http-proxy', 'fastify'),
    prepare: async (setting) => launch('fastify-http-proxy.mjs', setting),
  },
  {
    name: 'http-proxy-middleware',
    title: 'http-proxy-middleware',
    kind: 'plain',
    version: () => versions('http-proxy-middleware'),
    absent: () => missing('http-proxy-middleware'),
    prepare: async (setting) => launch('http-proxy-middleware.mjs', setting),
  },
  ...[100, 1000].map((rules): Peer => {
    const packages = ['fastify', '@fastify/http-proxy', 'jose', 'casbin']
    return {
      name: `node-stack-${rules}`,
      title: 'fastify + http-proxy + jose + casbin',
      kind: 'checked',
      rules,
      only: casbinWorkloads(rules),
      version: () => versions(...packages),
      absent: () => missing(...packages),
      prepare: async (setting) =>
        launch('node-stack.mjs', setting, await casbinEnv(rules, setting)),
    }
  }),
]

/** A Node program of `bench/peers`, told by its environment where to listen and whom to ask. */
function launch(
  file: string,
  { port, upstreamPort, tls, certificate, key }: Setting,
  more: Readonly<Record<string, string>> = {},
): Launch {
  return {
    program: process.execPath,
    args: [...nodeFlags, fileOfPeers(file)],
    env: {
      PORT: String(port),
      UPSTREAM: `http://127.0.0.1:${upstreamPort}`,
      ...(tls && { CERTIFICATE: certificate, KEY: key }),
      ...more,
    },
  }
}

function missing(...packages: readonly string[]): string | undefined {
  const absent = packages.filter((name) => packageVersion(name) === undefined)
  return absent.length === 0 ? undefined : `not installed in bench/: ${absent.join(', ')}`
}

function versions(...packages: readonly string[]): string {
  const own = packages.map((name) => `${name} ${packageVersion(name)}`)
  return [`node ${process.version}`, ...own].join(', ')
}

/** The version of a package as the peers get it. */
function packageVersion(name: string): string | undefined {
  const places = createRequire(fileOfPeers('bare.mjs')).resolve.paths(name) ?? []
  for (const place of places) {
    try {
      return JSON.parse(readFileSync(join(place, name, 'package.json'), 'utf8')).version
    } catch {
      // Not there: the next place.
    }
  }
  return undefined
}
