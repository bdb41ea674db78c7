/** One part of a recorded change. */
export interface ChangedPart {
  readonly name: string
  readonly from: string | undefined
  readonly to: string | undefined
}

/** What differs between two recorded states. Parts that are equal are left out. */
export function changesIn(before: unknown, after: unknown): readonly ChangedPart[] {
  const old = partsOf(before)
  const next = partsOf(after)
  return [...new Set([...old.keys(), ...next.keys()])].flatMap((name) => {
    const [from, to] = [old.get(name), next.get(name)]
    return from === to ? [] : [{ name, from, to }]
  })
}

function partsOf(state: unknown): ReadonlyMap<string, string> {
  if (state === null || typeof state !== 'object') return new Map()
  return new Map(Object.entries(state).map(([name, value]) => [name, inWords(value)]))
}

function inWords(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
