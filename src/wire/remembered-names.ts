import { flatText } from './flat-text.ts'

const most = 2000
/** Longer ones are nobody's but an attacker's. */
const longest = 64

/**
 * The same as `judge`, which must depend on nothing but the name, and remembered: nearly all headers
 * have the same few names. What is `undefined` is judged each time.
 */
export function rememberNames<Judged>(judge: (name: string) => Judged): (name: string) => Judged {
  const known = new Map<string, Judged>()

  return (name) => {
    const found = known.get(name)
    if (found !== undefined) return found
    const copy = flatText(name)
    // What Latin-1 does not have would become another name.
    if (copy !== name || name.length > longest) return judge(name)
    const judged = judge(copy)
    // Others choose the names; they must not choose how many of them we keep.
    if (judged !== undefined && known.size < most) known.set(copy, judged)
    return judged
  }
}
