import { readdir, readFile, readlink, realpath } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import type { Listener } from '../../config/checks/listeners.ts'
import { listenError } from '../config/hosts.ts'
import { askOps } from '../running/ask-ops.ts'
import { opsUrl } from '../running/ops-address.ts'
import type { Report } from './run-checks.ts'

/** A gateway that answers on the ops listener of this configuration. */
interface RunningGateway {
  readonly version: string
  /** Unknown: it runs as another user, or elsewhere. */
  readonly pid: number | undefined
  /** The configuration file of that process, if it is known to be another one. */
  readonly otherFile: string | undefined
}

/** Whether a gateway can listen where the configuration says, or does already. */
export async function checkPorts(
  report: Report,
  listeners: readonly Listener[],
  configuration: string,
): Promise<void> {
  const usable = listeners.flatMap(({ name, host, port, problem }) =>
    host === undefined || port === undefined || problem !== undefined ? [] : [{ name, host, port }],
  )
  const ops = usable.find(({ name }) => name === 'ops')
  const running = await findGateway(ops, configuration)
  const codes = await Promise.all(
    usable.map(({ host, port }) => (port === 0 ? undefined : listenError(host, port))),
  )
  for (const [at, one] of usable.entries()) {
    await reportPort(report.about(`${one.name}.port`), { ...one, code: codes[at] }, running)
  }
}

interface Address {
  readonly host: string
  readonly port: number
}

async function findGateway(
  ops: Address | undefined,
  configuration: string,
): Promise<RunningGateway | undefined> {
  if (ops === undefined || ops.port === 0) return undefined
  const ask = (path: string) => askOps(opsUrl(ops), path).catch(() => undefined)
  const { version } = Object((await ask('/version'))?.body)
  if (typeof version !== 'string') return undefined
  const pid = (await portOwner(ops.port))?.pid
  const { file } = Object(Object((await ask('/readyz?verbose'))?.body).configuration)
  const directory = pid === undefined ? undefined : await directoryOf(pid)
  if (typeof file !== 'string' || directory === undefined) {
    return { version, pid, otherFile: undefined }
  }
  const its = resolve(directory, file)
  const isSame = (await canonical(its)) === (await canonical(configuration))
  return { version, pid, otherFile: isSame ? undefined : its }
}

/** Both may lead to one file over different links. */
async function canonical(path: string): Promise<string> {
  return realpath(path).catch(() => path)
}

interface Tried extends Address {
  readonly name: string
  /** Why this machine cannot listen there. */
  readonly code: string | undefined
}

async function reportPort(
  report: Report,
  tried: Tried,
  running: RunningGateway | undefined,
): Promise<void> {
  const { name, host, port, code } = tried
  const where = `${host.includes(':') ? `[${host}]` : host}:${port}`
  if (port === 0) report.ok(`${where}: the system chooses a free port`)
  else if (code === undefined) report.ok(`${where} is free`)
  else if (code === 'EADDRINUSE') await reportUse(report, { ...tried, where }, running)
  else {
    const fix =
      code === 'EACCES'
        ? 'use a port of 1024 or above, or let the gateway use low ports (CAP_NET_BIND_SERVICE)'
        : `set ${name}.host to an address of this machine, or 0.0.0.0 for all`
    report.problem(`cannot listen on ${where} (${code})`, fix)
  }
}

async function reportUse(
  { ok, warning, problem }: Report,
  { name, port, where }: Tried & { readonly where: string },
  running: RunningGateway | undefined,
): Promise<void> {
  const owner = await portOwner(port)
  const used = `${where} is in use`
  const fix = `stop the other program, or choose another ${name}.port`
  if (running === undefined) return problem(`${used} by ${named(owner)}`, fix)
  const gateway = `the running Postern ${running.version}`
  const { pid, otherFile } = running
  if (otherFile !== undefined && (owner === undefined || isOf(owner, running))) {
    const message = `${used} by ${gateway}${pidOf(pid)}, whose configuration is ${otherFile}`
    return problem(message, `stop that gateway, or choose another ${name}.port`)
  }
  if (name === 'ops') return ok(`${used} by ${gateway}${pidOf(pid)}`)
  if (owner === undefined || pid === undefined) {
    const message = `${used}, probably by ${gateway}, which answers on the ops listener`
    return warning(message, 'run this command as the user of the gateway, or as root, to be sure')
  }
  return isOf(owner, running)
    ? ok(`${used} by ${gateway}${pidOf(owner.pid)}`)
    : problem(`${used} by ${named(owner)}, not by ${gateway}`, fix)
}

/** The console is a process of its own, started by the gateway. */
function isOf(owner: PortOwner, { pid }: RunningGateway): boolean {
  return owner.pid === pid || owner.parent === pid
}

function named(owner: PortOwner | undefined): string {
  return owner === undefined
    ? 'another program, of another user'
    : `${owner.program}${pidOf(owner.pid)}`
}

function pidOf(pid: number | undefined): string {
  return pid === undefined ? '' : ` (pid ${pid})`
}

/** The process that listens on a port. */
interface PortOwner {
  readonly pid: number
  readonly parent: number
  /** The name of its program, such as `nginx`. */
  readonly program: string
}

/**
 * Who listens on this TCP port, on any address. `undefined` where the system does not tell: not on
 * Linux, or a process of another user.
 */
async function portOwner(port: number): Promise<PortOwner | undefined> {
  const tables = ['/proc/net/tcp', '/proc/net/tcp6']
  const texts = await Promise.all(tables.map((file) => readFile(file, 'latin1').catch(() => '')))
  const sockets = new Set(texts.flatMap((text) => listeningOn(port, text)))
  if (sockets.size === 0) return undefined
  const processes = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))
  for (const pid of processes) {
    if (await holds(pid, sockets)) return describe(Number(pid))
  }
  return undefined
}

/** Where its relative paths begin; `undefined` where the system does not tell. */
async function directoryOf(pid: number): Promise<string | undefined> {
  return readlink(`/proc/${pid}/cwd`).catch(() => undefined)
}

const listening = '0A'

/** The sockets of one table, as their files are linked: `socket:[12345]`. */
function listeningOn(port: number, table: string): readonly string[] {
  const end = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  return table.split('\n').flatMap((line) => {
    const [, local, , state, , , , , , inode] = line.trim().split(/\s+/)
    return state === listening && local?.endsWith(end) ? [`socket:[${inode}]`] : []
  })
}

async function holds(pid: string, sockets: ReadonlySet<string>): Promise<boolean> {
  const directory = `/proc/${pid}/fd`
  const names = await readdir(directory).catch(() => [])
  const links = await Promise.all(
    names.map((name) => readlink(`${directory}/${name}`).catch(() => '')),
  )
  return links.some((link) => sockets.has(link))
}

async function describe(pid: number): Promise<PortOwner | undefined> {
  const read = (name: string) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '')
  const [stat, command] = await Promise.all([read('stat'), read('cmdline')])
  const [, thread, parent] = /^\d+ \((.*)\) \S+ (\d+)/s.exec(stat) ?? []
  if (thread === undefined) return undefined
  // Not the arguments: they may hold secrets.
  const [path = ''] = command.split('\0')
  return { pid, parent: Number(parent), program: basename(path.split(' ')[0] ?? '') || thread }
}
