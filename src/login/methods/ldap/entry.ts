/** An entry with every attribute as a list, by its name in lower case, and without options. */
export interface DirectoryEntry {
  readonly dn: string
  readonly values: ReadonlyMap<string, readonly (string | Buffer)[]>
}

type RawEntry = { readonly dn: string } & Readonly<
  Record<string, string | Buffer | readonly string[] | readonly Buffer[]>
>

/** The library gives one value as it is, several as a list, and a missing one as an empty list. */
export function toEntry({ dn, ...attributes }: RawEntry): DirectoryEntry {
  const values = Object.entries(attributes).map(([name, value]) => {
    const list: readonly (string | Buffer)[] =
      typeof value === 'string' || Buffer.isBuffer(value) ? [value] : value
    return [name.toLowerCase(), list] as const
  })
  return { dn, values: new Map(values) }
}

/** The values of an attribute that are text. */
export function textsOf({ values }: DirectoryEntry, attribute: string): readonly string[] {
  const found = values.get(attribute.toLowerCase()) ?? []
  return found.filter((value) => typeof value === 'string')
}

/** The first value of an attribute that is text and not empty. */
export function textOf(entry: DirectoryEntry, attribute: string): string | undefined {
  return textsOf(entry, attribute).find((text) => text.trim() !== '')
}

/**
 * The lasting ID of an entry: the one value of this attribute. 16 bytes under the name of Active
 * Directory's objectGUID become the text that its tools show, in which three fields are little-endian.
 */
export function subjectOf({ values }: DirectoryEntry, attribute: string): string | undefined {
  const found = values.get(attribute.toLowerCase()) ?? []
  const [value] = found
  if (value === undefined || found.length > 1) return undefined
  if (attribute.toLowerCase() === 'objectguid') {
    const bytes = Buffer.from(value)
    return bytes.length === 16 ? guidText(bytes) : undefined
  }
  if (typeof value !== 'string' || !/^[!-~]{1,255}$/.test(value)) return undefined
  return value
}

function guidText(bytes: Buffer): string {
  const swapped = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15]
  const hex = swapped.map((at) => bytes.toString('hex', at, at + 1)).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
