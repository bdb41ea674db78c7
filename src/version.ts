import { readFileSync } from 'node:fs'

const manifest = new URL('../package.json', import.meta.url)

/** The version of this program, as its package says it. */
export const version: string = JSON.parse(readFileSync(manifest, 'utf8')).version
