import { readFileSync } from 'node:fs'

/** The limit of open files and connections of this process; `undefined` if the system reports none. */
export function readDescriptorLimit(file = '/proc/self/limits'): number | undefined {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync(file, 'latin1'))?.[1]
    return soft === undefined ? undefined : Number(soft)
  } catch {
    return undefined
  }
}
