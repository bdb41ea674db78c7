import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Io, Programs } from '../../cli/io.ts'
import { Fault } from '../../kernel/errors.ts'
import { hostOf, startProcess, watchSignals } from './gateway-start.ts'

/**
 * Runs the console until a signal stops it, or until the gateway that started it has gone. The
 * management API runs these commands.
 */
export async function runConsole(
  options: Parameters<Programs['console']>[0],
  io: Io,
): Promise<number> {
  const host = hostOf(io)
  const signals = watchSignals(host)
  const [
    { loadConfig },
    { createOperations },
    { createSharedStores },
    { readFleet },
    { openConsole },
    { answering },
  ] = await Promise.all([
    import('../../config/load.ts'),
    import('../../console/api/register.ts'),
    import('../../operations/shared-stores.ts'),
    import('../../operations/running/read-fleet.ts'),
    import('../console/open-console.ts'),
    import('../console/answering.ts'),
  ])
  const config = loadConfig({ file: options.config, env: io.env, cwd: io.cwd })
  const { dataDirectory } = config.application
  if (
    config.database.url === undefined &&
    !existsSync(resolve(io.cwd, dataDirectory, 'database'))
  ) {
    const reason = `${dataDirectory} has no embedded database: start the gateway once, or set database.url`
    throw new Fault('database', { reason })
  }
  const base = { pid: host.pid, process: 'console' }
  const isTerminal = host.stdout.isTTY === true
  const { log, shutdown } = await startProcess(host, config, { base, isTerminal })
  signals.handle(shutdown.signalReceived, () => {})
  // Also when the gateway was killed: then no one else ends this process.
  host.once('disconnect', () => shutdown.begin())
  const operations = await createOperations({ ...answering, io, config: options.config })
  // The charts ask every few seconds, so what they ask stays open.
  const shared = createSharedStores()
  const asker = { ...io, configFile: options.config, shared, err() {} }
  const running = await openConsole({
    ...{ config, log, operations, channel: host },
    readFleet: () => readFleet(undefined, asker),
  })
  const { port, address } = running
  log.info({ port, address, write: config.console.write }, 'console listening')
  host.send?.({ kind: 'listening', port, address })
  return shutdown.complete(async () => {
    await running.close()
    await shared.close()
  })
}
