import { spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fail, skip } from './verdict.mjs'
import { atEnd, work } from './workplace.mjs'

/** The limit of the chart. */
export const MEMORY = 512 * 1024 * 1024
/** The user of the image. */
export const USER = 65_532

/** What container engines leave to root in a container unless they are told otherwise. */
const usual = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'SETGID', 'SETUID', 'NET_BIND_SERVICE', 'KILL']
const flags = ['nosuid', 'noexec', 'nodev']
const modes = { ro: ['ro', ...flags], rw: ['rw', ...flags], exec: ['ro', 'nosuid', 'nodev'] }
const longestStartMs = 180_000

/**
 * Starts a container with runc, on a read-only file system and without a way to gain privileges:
 *
 *   rootfs, args, env, cwd   what runs
 *   mounts                   [source, destination, 'ro', 'rw' or 'exec']; `tmpfs` as source is new and empty
 *   user                     its number; by default that of the image
 *   isTrusted                keeps the capabilities that root usually has in a container
 *   memory                   its limit in bytes; unset: none
 *   network                  path of its network namespace; unset: the network of the machine
 */
export function startContainer(name, options) {
  const id = `postern-${name}-${randomUUID()}`
  const bundle = join(work, 'bundles', id)
  mkdirSync(bundle, { recursive: true })
  writeFileSync(join(bundle, 'config.json'), JSON.stringify(bundleOf(name, options)))
  atEnd(() => spawnSync('runc', ['delete', '--force', id], { stdio: 'ignore' }))
  const started = spawn('runc', ['run', '--bundle', bundle, id], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [all, out] = [[], []]
  started.stdout.on('data', (chunk) => {
    all.push(String(chunk))
    out.push(String(chunk))
  })
  started.stderr.on('data', (chunk) => all.push(String(chunk)))
  let code
  const ended = new Promise((resolve) => {
    started.on('close', (given) => {
      code = given ?? 1
      resolve(code)
    })
  })
  const said = () => all.join('')
  const exec = (...command) =>
    spawnSync('runc', ['exec', id, ...command], { encoding: 'utf8', timeout: longestStartMs })

  /** Until `isReady` returns true. */
  async function untilReady(isReady) {
    const start = performance.now()
    while (!(await isReady())) {
      if (code !== undefined && /cgroup|operation not permitted|permission denied/i.test(said())) {
        skip(`runc lacks rights here: ${said().trim().split('\n').at(-1)}`)
      }
      if (code !== undefined) fail(`${name} does not start (exit code ${code}): ${said()}`)
      if (performance.now() - start > longestStartMs) fail(`${name} is not ready: ${said()}`)
      await pause(100)
    }
  }

  return {
    name,
    exec,
    untilReady,
    /** Its exit code, once it has ended. */
    ended,
    /** All that it printed, and what of it on standard output. */
    said,
    printed: () => out.join(''),
    signal: (signal) => spawnSync('runc', ['kill', id, signal]),
    /** What the kernel holds it to. */
    memoryLimits() {
      const state = JSON.parse(readFileSync(join('/run/runc', id, 'state.json'), 'utf8'))
      return Object.values(state.cgroup_paths ?? {})
        .flatMap((path) => ['memory.max', 'memory.limit_in_bytes'].map((file) => join(path, file)))
        .filter((path) => existsSync(path))
        .map((path) => Number(readFileSync(path, 'utf8')))
    },
  }
}

function bundleOf(name, options) {
  const { rootfs, args, env, cwd = '/', mounts = [], user = USER, group = user } = options
  const { isTrusted = false, memory, network } = options
  const kept = isTrusted ? usual.map((each) => `CAP_${each}`) : []
  return {
    ociVersion: '1.0.2',
    process: {
      user: { uid: user, gid: group },
      args,
      env,
      cwd,
      capabilities: {
        bounding: kept,
        effective: kept,
        permitted: kept,
        inheritable: [],
        ambient: [],
      },
      noNewPrivileges: true,
    },
    root: { path: rootfs, readonly: true },
    hostname: name,
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc' },
      { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755'] },
      ...mounts.map(([source, destination, mode]) =>
        source === 'tmpfs'
          ? { destination, type: 'tmpfs', source, options: [...flags, 'mode=1777'] }
          : { destination, type: 'bind', source, options: ['rbind', ...modes[mode]] },
      ),
    ],
    linux: {
      namespaces: [
        ...['pid', 'ipc', 'uts', 'mount'].map((type) => ({ type })),
        ...(network === undefined ? [] : [{ type: 'network', path: network }]),
      ],
      resources: memory === undefined ? {} : { memory: { limit: memory } },
      maskedPaths: ['/proc/kcore', '/proc/keys', '/proc/timer_list'],
      readonlyPaths: ['/proc/sys', '/proc/irq', '/proc/bus'],
    },
  }
}
