import { readFileSync } from 'node:fs'

/**
 * How many connections the system has dropped because the queue of a listening socket was full, of
 * all processes in this network namespace; `undefined` where it does not say.
 */
export function readListenOverflows(file = '/proc/net/netstat'): number | undefined {
  try {
    const [names = '', values = ''] = readFileSync(file, 'latin1')
      .split('\n')
      .filter((line) => line.startsWith('TcpExt:'))
    const at = names.split(' ').indexOf('ListenOverflows')
    const value = values.split(' ')[at]
    return at === -1 || value === undefined ? undefined : Number(value)
  } catch {
    return undefined
  }
}
