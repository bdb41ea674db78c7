/**
 * A DN in one spelling, for comparison (RFC 4514): without insignificant blanks, with escapes resolved,
 * and without regard to case, as directories compare the names of groups. `undefined` if it is not a DN.
 */
export function canonicalDn(text: string): string | undefined {
  const names = splitUnescaped(text, /[,;]/).map((name) => {
    const pairs = splitUnescaped(name, /\+/).map(canonicalPair)
    return pairs.includes(undefined) ? undefined : pairs.toSorted()
  })
  // As JSON, because an unescaped value may contain any separator.
  return names.includes(undefined) ? undefined : JSON.stringify(names)
}

/** The name of a group by its DN: the value of the first part, if that is `cn`. */
export function commonName(dn: string): string | undefined {
  const [first = ''] = splitUnescaped(dn, /[,;]/)
  const pair = canonicalPair(first)
  return pair?.startsWith('cn=') ? pair.slice(3) : undefined
}

/**
 * The `cn` of a group right below this entry, as it is written there. Elsewhere another group may have the
 * same one, made by someone who administers only a part of the directory.
 */
export function nameBelow(dn: string, base: string | undefined): string | undefined {
  const [first = '', ...above] = splitUnescaped(dn, /[,;]/)
  if (base === undefined || canonicalDn(above.join(',')) !== canonicalDn(base)) return undefined
  const [, value] = /^\s*cn\s*=\s*(.*?)\s*$/is.exec(first) ?? []
  return value === undefined || splitUnescaped(value, /\+/).length > 1
    ? undefined
    : unescaped(value)
}

/** A name without regard to case and surplus blanks. */
export function canonicalValue(text: string): string {
  return text.normalize('NFKC').toLowerCase().trim().replace(/\s+/g, ' ')
}

function canonicalPair(text: string): string | undefined {
  const { attribute, value } =
    /^\s*(?<attribute>[A-Za-z][\w.-]*|\d+(?:\.\d+)*)\s*=(?<value>.*)$/s.exec(text)?.groups ?? {
      attribute: undefined,
      value: undefined,
    }
  if (attribute === undefined || value === undefined) return undefined
  return `${attribute.toLowerCase()}=${canonicalValue(unescaped(value))}`
}

/** Pairs of hex digits are bytes of UTF-8. */
function unescaped(value: string): string {
  return value.replace(/(?:\\[0-9A-Fa-f]{2})+|\\(.)/gs, (whole, character: string | undefined) =>
    character === undefined ? Buffer.from(whole.replaceAll('\\', ''), 'hex').toString() : character,
  )
}

function splitUnescaped(text: string, separator: RegExp): readonly string[] {
  const parts = ['']
  for (const [token] of text.matchAll(/\\.|[^\\]|\\$/gs)) {
    if (token.length === 1 && separator.test(token)) parts.push('')
    else parts.push((parts.pop() ?? '') + token)
  }
  return parts
}
