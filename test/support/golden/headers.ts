/** What clients of the management API may rely on. */
const names = [
  'allow',
  'cache-control',
  'content-disposition',
  'content-type',
  'etag',
  'location',
  'retry-after',
  'set-cookie',
  'www-authenticate',
]

/** The headers of a response that a recording keeps, one on each line. */
export function headersIn(read: (name: string) => string | undefined): string {
  const present = names.flatMap((name) => {
    const value = read(name)
    return value === undefined ? [] : [`${name}: ${value}`]
  })
  return present.join('\n')
}
