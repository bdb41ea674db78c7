/** A page and what it is asked, as they are after `#` in the address: `#/can?role=editor`. */
export interface Address {
  /** Empty: the first page. */
  readonly page: string
  readonly query: Query
}

export type Query = Readonly<Record<string, string>>

export function parseAddress(hash: string): Address {
  const [path = '', search = ''] = hash.replace(/^#?\/?/, '').split(/\?(.*)/s)
  return { page: path.replace(/\/+$/, ''), query: Object.fromEntries(new URLSearchParams(search)) }
}

/** The address of a page, for links. Values that are empty or undefined are left out. */
export function addressOf(
  page: string,
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === '' ? [] : [[name, value]],
  )
  // Slashes stay readable: paths are most of what people look for in an address.
  const search = new URLSearchParams(given).toString().replaceAll('%2F', '/')
  return `#/${page}${search === '' ? '' : `?${search}`}`
}
