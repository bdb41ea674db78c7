import { readFileSync } from 'node:fs'

/**
 * The connections that the system has dropped because an accept queue was full, for all processes of
 * this network namespace; `undefined` if the system reports none.
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
