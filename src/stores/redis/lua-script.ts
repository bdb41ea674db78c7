import { fill } from '../../kernel/fill.ts'

/**
 * A Lua script from a file beside the module that runs it, with these values for `{{name}}`. Without
 * its comments, because every call sends the script. Read when the module loads: a running gateway must
 * not read the script of another version that was installed meanwhile.
 */
export function loadScript(
  file: URL,
  values: Readonly<Record<string, string | number>> = {},
): string {
  return fill(file, values).replace(/^ *--.*\n/gm, '')
}
