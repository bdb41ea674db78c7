/** RFC 4251, section 5: a length of four bytes, then so many bytes. */
export function sshString(value: string | Uint8Array): Buffer {
  const bytes = Buffer.from(value)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}

/** So many strings and what follows them; `undefined` when the bytes are cut short. */
export function readStrings(bytes: Buffer, count: number) {
  const strings: Buffer[] = []
  let at = 0
  while (strings.length < count) {
    if (bytes.length - at < 4) return undefined
    const end = at + 4 + bytes.readUInt32BE(at)
    if (end > bytes.length) return undefined
    strings.push(bytes.subarray(at + 4, end))
    at = end
  }
  return { strings, rest: bytes.subarray(at) }
}

/** Reads strings that nothing may follow. */
export function readAllStrings(bytes: Buffer, count: number): readonly Buffer[] | undefined {
  const found = readStrings(bytes, count)
  return found?.rest.length === 0 ? found.strings : undefined
}
