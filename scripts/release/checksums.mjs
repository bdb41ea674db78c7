import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** As sha256sum writes and checks it. */
export function checksums(directory) {
  return readdirSync(directory)
    .sort()
    .map((name) => `${digestOf(join(directory, name))}  ${name}\n`)
    .join('')
}

const digestOf = (file) => createHash('sha256').update(readFileSync(file)).digest('hex')
