import { readFileSync } from 'node:fs'

const manifest = new URL('../package.json', import.meta.url)

const { version: own, engines } = JSON.parse(readFileSync(manifest, 'utf8'))

export const version: string = own

/** The oldest Node that runs Postern, such as `22.19`. */
export const oldestNode: string = String(engines.node).replace(/^>=/, '')
