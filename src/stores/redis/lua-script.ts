import { readFileSync } from 'node:fs'

/**
 * A Lua script from a file beside the module that runs it, with these values for `{{name}}`. Without
 * its comments, because every call sends the script. Read when the module loads: a running gateway must
 * not read the script of another version that was installed meanwhile.
 */
export function loadScript(
  file: URL,
  values: Readonly<Record<string, string | number>> = {},
): string {
  const code = readFileSync(file, 'utf8').replace(/^ *--.*\n/gm, '')
  return code.replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = values[name]
    if (value === undefined) throw new Error(`${file.pathname} needs ${name}`)
    return String(value)
  })
}
