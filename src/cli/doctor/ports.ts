import { realpath } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Listener } from '../../config/checks/listeners.ts'
import { listenError } from '../../operations/config/hosts.ts'
import { askOps } from '../../operations/running/ask-ops.ts'
import { opsUrl } from '../../operations/running/ops-address.ts'
import { type Finding, ok, problem, warning } from './finding.ts'
import { directoryOf, type PortOwner, portOwner } from './port-owner.ts'

/** A gateway that answers on the ops listener of this configuration. */
interface RunningGateway {
  readonly version: string
  /** Unknown: it runs as another user, or elsewhere. */
  readonly pid: number | undefined
  /** Its configuration file, if that is known to be another one. */
  readonly otherFile: string | undefined
}

/** Whether a gateway can listen where the configuration says, or does already. */
export async function checkPorts(
  listeners: readonly Listener[],
  configuration: string,
): Promise<readonly Finding[]> {
  const usable = listeners.flatMap(({ name, host, port, problem }) =>
    host === undefined || port === undefined || problem !== undefined ? [] : [{ name, host, port }],
  )
  const ops = usable.find(({ name }) => name === 'ops')
  const running = await findGateway(ops, configuration)
  return Promise.all(usable.map((one) => checkPort(one, running)))
}

type Address = { readonly host: string; readonly port: number }

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

async function checkPort(
  { name, host, port }: Address & { readonly name: string },
  running: RunningGateway | undefined,
): Promise<Finding> {
  const setting = `${name}.port`
  const where = `${host.includes(':') ? `[${host}]` : host}:${port}`
  if (port === 0) return ok(setting, `${where}: the system chooses a free port`)
  const code = await listenError(host, port)
  if (code === undefined) return ok(setting, `${where} is free`)
  if (code === 'EADDRINUSE') return inUse(name, where, await portOwner(port), running)
  const message = `cannot listen on ${where} (${code})`
  if (code === 'EACCES') {
    const fix = `use a port of 1024 or above, or let the gateway use low ports (CAP_NET_BIND_SERVICE)`
    return problem(setting, message, fix)
  }
  return problem(
    setting,
    message,
    `set ${name}.host to an address of this machine, or 0.0.0.0 for all`,
  )
}

function inUse(
  name: string,
  where: string,
  owner: PortOwner | undefined,
  running: RunningGateway | undefined,
): Finding {
  const setting = `${name}.port`
  const fix = `stop the other program, or choose another ${setting}`
  if (running === undefined) return problem(setting, `${where} is in use by ${named(owner)}`, fix)
  const gateway = `the running Postern ${running.version}`
  if (running.otherFile !== undefined && (owner === undefined || isOf(owner, running))) {
    const message = `${where} is in use by ${gateway}${pidOf(running.pid)}, whose configuration is ${running.otherFile}`
    return problem(setting, message, `stop that gateway, or choose another ${setting}`)
  }
  if (name === 'ops') return ok(setting, `${where} is in use by ${gateway}${pidOf(running.pid)}`)
  if (owner === undefined || running.pid === undefined) {
    return warning(
      setting,
      `${where} is in use, probably by ${gateway}, which answers on the ops listener`,
      'run this command as the user of the gateway, or as root, to be sure',
    )
  }
  return isOf(owner, running)
    ? ok(setting, `${where} is in use by ${gateway}${pidOf(owner.pid)}`)
    : problem(setting, `${where} is in use by ${named(owner)}, not by ${gateway}`, fix)
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
