import { readFileSync } from 'node:fs'

/** The most files and connections this process may have open; `undefined` where the system does not say. */
export function readDescriptorLimit(file = '/proc/self/limits'): number | undefined {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync(file, 'latin1'))?.[1]
    return soft === undefined ? undefined : Number(soft)
  } catch {
    return undefined
  }
}
