import { readdir, readFile, readlink } from 'node:fs/promises'
import { basename } from 'node:path'

/** The process that listens on a port. */
export interface PortOwner {
  readonly pid: number
  readonly parent: number
  /** The name of its program, such as `nginx`. */
  readonly program: string
}

/**
 * Who listens on this TCP port, on any address. `undefined` where the system does not tell: not on
 * Linux, or a process of another user.
 */
export async function portOwner(port: number): Promise<PortOwner | undefined> {
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
export async function directoryOf(pid: number): Promise<string | undefined> {
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
