/** Longer headers are ignored: no browser sends one, and reading it would cost more than the refusal. */
const maxHeaderLength = 500
const maxRanges = 20

/**
 * The best of `tags` for an Accept-Language header (RFC 9110 12.5.4): lookup by RFC 4647 3.4, so that
 * `zh-TW` finds `zh`. Without a match the first tag, never a 406: a text in another language says more
 * than none. Tags are in lower case.
 */
export function bestLanguage(header: string, tags: readonly [string, ...string[]]): string {
  if (header.length > maxHeaderLength) return tags[0]
  const ranges = header.toLowerCase().split(',', maxRanges).flatMap(readRange)
  const refused = new Set(ranges.filter(({ quality }) => quality === 0).map(({ tag }) => tag))
  const wanted = ranges.filter(({ quality }) => quality > 0).sort((a, b) => b.quality - a.quality)
  for (const { tag } of wanted) {
    const found = tag === '*' ? tags.find((each) => !refused.has(each)) : lookUp(tag, tags, refused)
    if (found !== undefined) return found
  }
  return tags[0]
}

const rangeForm =
  /^(\*|[a-z]{1,8}(?:-[a-z0-9]{1,8}){0,7})(?:[ \t]*;[ \t]*q=([01](?:\.[0-9]{0,3})?))?$/

/** Empty for a malformed range: the others still count. */
function readRange(text: string) {
  const [, tag, quality = '1'] = rangeForm.exec(text.trim()) ?? []
  return tag === undefined ? [] : [{ tag, quality: Math.min(Number(quality), 1) }]
}

/** RFC 4647 3.4: the range loses its last subtag until it matches, and a single letter with it. */
function lookUp(
  range: string,
  tags: readonly string[],
  refused: ReadonlySet<string>,
): string | undefined {
  let left = range
  while (left !== '') {
    if (tags.includes(left) && !refused.has(left)) return left
    left = left.slice(0, Math.max(left.lastIndexOf('-'), 0)).replace(/-[a-z0-9]$/, '')
  }
  return undefined
}
