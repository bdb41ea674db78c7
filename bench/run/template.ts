/**
 * Fills `{{name}}` in a configuration file, and keeps a line that begins with `{{tls}}` or
 * `{{plain}}` only where that is what clients speak. Throws on a name that has no value.
 */
export function fill(
  template: string,
  { tls, ...values }: Readonly<Record<string, string | number | boolean>>,
): string {
  const left = tls === true ? '{{plain}}' : '{{tls}}'
  return template
    .split('\n')
    .filter((line) => !line.trimStart().startsWith(left))
    .map((line) => line.replace(/\{\{(?:tls|plain)\}\} ?/, ''))
    .join('\n')
    .replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
      const value = values[name]
      if (value === undefined) throw new Error(`nothing is given for {{${name}}}`)
      return String(value)
    })
}
