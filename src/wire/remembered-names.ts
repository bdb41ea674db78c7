import { flatText } from './flat-text.ts'

const most = 2000
/** Only attackers send longer names. */
const longest = 64

/**
 * Caches the results of `compute`, which must depend on the name alone: nearly all headers have the
 * same few names. `undefined` is not cached.
 */
export function rememberNames<T>(compute: (name: string) => T): (name: string) => T {
  const known = new Map<string, T>()

  return (name) => {
    const found = known.get(name)
    if (found !== undefined) return found
    const copy = flatText(name)
    // Outside Latin-1, the copy would be another name.
    if (copy !== name || name.length > longest) return compute(name)
    const result = compute(copy)
    // Clients choose the names; they must not choose how many we keep.
    if (result !== undefined && known.size < most) known.set(copy, result)
    return result
  }
}
