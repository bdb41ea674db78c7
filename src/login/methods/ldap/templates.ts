/** Fills a filter with values that the directory must compare, not interpret (RFC 4515 3). */
export function filledFilter(template: string, values: Readonly<Record<string, string>>): string {
  return filled(template, values, (value) =>
    value.replace(/[\\*()\0]/g, (character) => `\\${hex(character)}`),
  )
}

/** Fills a DN with values (RFC 4514 2.4). */
export function filledDn(template: string, values: Readonly<Record<string, string>>): string {
  return filled(template, values, (value) =>
    value.replace(/["+,;<>\\=#\0]|^ | $/g, (character) => `\\${hex(character)}`),
  )
}

/** Fills a text that is compared as it is, such as a user principal name. */
export function filledText(template: string, username: string): string {
  return filled(template, { username }, (value) => value)
}

/** In one pass: a value that looks like a placeholder stays text. */
function filled(
  template: string,
  values: Readonly<Record<string, string>>,
  escaped: (value: string) => string,
): string {
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined
    return value === undefined ? whole : escaped(value)
  })
}

/** What a filter compares with the typed name, such as `uid` and `{username}` of `(uid={username})`. */
export function nameComparisons(filter: string) {
  return [...filter.matchAll(/\(([A-Za-z][\w.-]*)=([^()*\\]*\{username\}[^()*\\]*)\)/g)].map(
    ([, attribute = '', form = '']) => ({ attribute, form }),
  )
}

function hex(character: string): string {
  return character.charCodeAt(0).toString(16).padStart(2, '0')
}
