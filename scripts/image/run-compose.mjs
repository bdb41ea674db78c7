import { chownSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { MEMORY, startContainer } from './container.mjs'
import { findServices } from './machine-services.mjs'
import { createNetwork } from './network.mjs'
import { expectThat, fail, passed } from './verdict.mjs'
import { root, work } from './workplace.mjs'

/**
 * Runs the services of docker-compose.yml, each in a container with an address of its own, in the order
 * of that file, and calls the sample service through the gateways. The ports that it publishes are not:
 * the client is on the same network.
 */
export async function runCompose(image) {
  const { services } = parse(readFileSync(join(root, 'docker-compose.yml'), 'utf8'), {
    merge: true,
  })
  const others = findServices()
  if (typeof others === 'string') return leaveOut(others)
  const gateways = Object.keys(services).filter((name) => /^gateway(?:-\d+)?$/.test(name))
  const rest = Object.keys(services).filter((name) => !gateways.includes(name))
  let network
  try {
    network = createNetwork([...rest, ...gateways, 'client'])
  } catch (error) {
    return leaveOut(error.message)
  }
  const start = (name, service, more = {}) =>
    startContainer(name, {
      ...containerOf(name, service, others[name] ?? image, network),
      ...more,
    })
  const finish = async (name) => {
    const container = start(name, services[name], name === 'setup' ? { memory: MEMORY } : {})
    if ((await container.ended) !== 0) fail(`${name} failed: ${container.said()}`)
    return container
  }

  await finish('secrets')
  for (const name of ['postgres', 'redis']) {
    const container = start(name, services[name])
    const [, ...check] = services[name].healthcheck.test
    await container.untilReady(() => container.exec(...check).status === 0)
  }
  const setup = await finish('setup')
  expectThat(/created role admin/.test(setup.said()), 'compose: setup creates the first roles')
  const orders = start('orders', services.orders)
  await orders.untilReady(() => orders.said().includes('orders service on'))
  const running = gateways.map((name) => start(name, services[name], { memory: MEMORY }))
  for (const gateway of running) {
    await gateway.untilReady(() => gateway.said().includes('"listening"'))
    // `status` without --live is readiness: policy, Redis and database.
    await gateway.untilReady(() => gateway.exec('postern', 'status').status === 0)
  }
  passed(`compose: ${gateways.length} gateways are ready, with 512 MiB each`)

  const added = running[0].exec('postern', 'user', 'add', 'compose-viewer', '--role', 'viewer')
  if (added.status !== 0) fail(`user add: ${added.stderr}`)
  await callThrough(gateways, added.stdout.trim(), services, image, network)

  for (const gateway of running) gateway.signal('TERM')
  const codes = await Promise.all(running.map(({ ended }) => ended))
  expectThat(
    codes.every((code) => code === 0),
    'compose: SIGTERM ends the gateways with exit code 0',
  )
}

function leaveOut(reason) {
  console.log(`left out: the services of docker-compose.yml; ${reason}`)
}

/** Logs in as a viewer, who may read orders and not delete them, and calls both gateways. */
async function callThrough(gateways, password, services, image, network) {
  const program = join(import.meta.dirname, 'compose-client.mjs')
  const secret = join(work, 'viewer')
  writeFileSync(secret, password)
  chownSync(secret, image.user, image.user)
  const container = containerOf('client', services.gateway, image, network)
  const client = startContainer('client', {
    ...container,
    args: ['node', '/client.mjs', 'compose-viewer', '/viewer', ...gateways],
    mounts: [...container.mounts, [program, '/client.mjs', 'ro'], [secret, '/viewer', 'ro']],
  })
  if ((await client.ended) !== 0) fail(`the client failed: ${client.said()}`)
  const { calls } = JSON.parse(client.printed().trim().split('\n').at(-1))
  for (const { what, wanted, got } of calls) {
    expectThat(
      got === wanted,
      `compose: ${what} gets ${wanted}${got === wanted ? '' : `, not ${got}`}`,
    )
  }
  expectThat(
    /logged out; the token is refused/.test(client.said()),
    'compose: logout revokes the token',
  )
}

/** What a container engine makes of a service in that file, as far as the file uses it. */
function containerOf(name, service, image, network) {
  const { namespace } = network.hosts.get(name)
  const [user = image.user, group = user] = service.user?.split(':').map(Number) ?? []
  const settings = Object.entries(service.environment ?? {})
  const given = service.entrypoint ?? (service.command ? [] : image.args)
  return {
    rootfs: image.rootfs,
    args: [...given, ...(service.command ?? []), ...(image.appended ?? [])],
    env: [...image.env, ...settings.map(([key, value]) => `${key}=${value}`)],
    cwd: image.cwd,
    user,
    group,
    isTrusted: !service.cap_drop?.includes('ALL') && user === 0,
    network: namespace,
    mounts: [
      ...(image.mounts ?? []),
      ...(service.tmpfs ?? []).map((path) => ['tmpfs', path, 'rw']),
      ...(service.volumes ?? []).map((volume) => mountOf(name, volume, image.rootfs)),
      [network.file, '/etc/hosts', 'ro'],
    ],
  }
}

/** A file of the repository, a named volume, or one that is new for each container. */
function mountOf(name, volume, rootfs) {
  const parts = volume.split(':')
  if (parts.length === 1) return [madeVolume(`of-${name}`, volume, rootfs), volume, 'rw']
  const [from, to, mode = 'rw'] = parts
  return [from.startsWith('.') ? join(root, from) : madeVolume(from, to, rootfs), to, mode]
}

/** Belongs to the one who owns its place in the image, as with container engines. */
function madeVolume(name, destination, rootfs) {
  const path = join(work, 'volumes', name)
  if (existsSync(path)) return path
  mkdirSync(path, { recursive: true })
  const place = join(rootfs, destination)
  if (existsSync(place)) chownSync(path, statSync(place).uid, statSync(place).gid)
  return path
}
