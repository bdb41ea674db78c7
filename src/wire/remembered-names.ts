const most = 2000

/**
 * The same as `judge`, which must depend on nothing but the name, and remembered: nearly all headers
 * have the same few names. What is `undefined` is judged each time.
 */
export function rememberNames<Judged>(judge: (name: string) => Judged): (name: string) => Judged {
  const known = new Map<string, Judged>()

  return (name) => {
    const found = known.get(name)
    if (found !== undefined) return found
    // A copy: a piece of a text, such as a head, would keep all of it in memory.
    const copy = Buffer.from(name, 'latin1').toString('latin1')
    const judged = judge(copy)
    // Others choose the names; they must not choose how many of them we keep.
    if (judged !== undefined && known.size < most) known.set(copy, judged)
    return judged
  }
}
