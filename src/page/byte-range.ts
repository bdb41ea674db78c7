/** Both ends are included. */
export interface ByteRange {
  readonly first: number
  readonly last: number
}

/**
 * The range that a Range header asks for (RFC 9110 14.2). `undefined`: the whole file, also for several
 * ranges or a malformed header. Safari plays no recording from a server that ignores its ranges.
 */
export function readByteRange(header: string, length: number): ByteRange | undefined {
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(header) ?? []
  if (from === '') {
    return Number(to) > 0
      ? { first: Math.max(length - Number(to), 0), last: length - 1 }
      : undefined
  }
  const [first, last] = [Number(from), to === '' ? length - 1 : Math.min(Number(to), length - 1)]
  return first <= last ? { first, last } : undefined
}
