import { readFileSync } from 'node:fs'

/** The text of a file, with these values for `{{name}}`. */
export function fill(file: URL, values: Readonly<Record<string, string | number>> = {}): string {
  return readFileSync(file, 'utf8').replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = values[name]
    if (value === undefined) throw new Error(`${file.pathname} needs ${name}`)
    return String(value)
  })
}
