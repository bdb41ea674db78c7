import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The path of a file of the package, from the source and from the build alike. */
export function packagedPath(name: string): string {
  return fileURLToPath(new URL(`../../../../${name}`, import.meta.url))
}

/** The text of a file of the package, such as `policies/model.conf`. */
export function packagedText(name: string): string {
  return readFileSync(packagedPath(name), 'utf8')
}
