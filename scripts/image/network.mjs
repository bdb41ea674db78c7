import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { atEnd, work } from './workplace.mjs'

/**
 * A network of these hosts alone: a namespace for each, joined by a bridge in one more, so that the
 * network of the machine stays as it is. Addresses are from the range for documentation. Throws what
 * the kernel refuses.
 */
export function createNetwork(names) {
  const prefix = `postern-${randomBytes(4).toString('hex')}`
  const bridge = `${prefix}-bridge`
  addNamespace(bridge)
  ip('-n', bridge, 'link', 'add', 'bridge', 'type', 'bridge')
  ip('-n', bridge, 'link', 'set', 'bridge', 'up')
  const hosts = new Map()
  for (const [index, name] of names.entries()) {
    const namespace = `${prefix}-${name}`
    const address = `192.0.2.${index + 1}`
    addNamespace(namespace)
    const other = ['peer', 'name', 'eth0', 'netns', namespace]
    ip('-n', bridge, 'link', 'add', `port${index}`, 'type', 'veth', ...other)
    ip('-n', bridge, 'link', 'set', `port${index}`, 'master', 'bridge', 'up')
    ip('-n', namespace, 'address', 'add', `${address}/24`, 'dev', 'eth0')
    ip('-n', namespace, 'link', 'set', 'lo', 'up')
    ip('-n', namespace, 'link', 'set', 'eth0', 'up')
    hosts.set(name, { address, namespace: `/run/netns/${namespace}` })
  }
  const file = join(work, 'hosts')
  const lines = [
    '127.0.0.1 localhost',
    ...Array.from(hosts, ([name, { address }]) => `${address} ${name}`),
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
  return { hosts, file }
}

function addNamespace(name) {
  ip('netns', 'add', name)
  atEnd(() => spawnSync('ip', ['netns', 'delete', name], { stdio: 'ignore' }))
}

function ip(...args) {
  const { status, stderr, error } = spawnSync('ip', args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`ip ${args.join(' ')}: ${stderr?.trim() || error}`)
}
