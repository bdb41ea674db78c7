/** A text in slices that take well under a millisecond to hash or to escape. No pair is cut apart. */
export function* slicesOf(text: string, length = 32_768): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const end = start + length
    const isCut = end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800
    const next = isCut ? end + 1 : end
    yield text.slice(start, next)
    start = next
  }
}
