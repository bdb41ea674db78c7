import { type Resolve, watchAddresses } from './addresses.ts'
import type { NameLookups } from './name-lookups.ts'
import type { Target } from './target.ts'

/** `isMoved`: the name leads to another server than before. */
type CreateOne = (address: string | undefined, isMoved: boolean) => Target

interface TargetGroupParts {
  readonly createOne: CreateOne
  readonly dnsSeconds: number
  /** The addresses that the name had before a reload, which begins with them. */
  readonly known: readonly string[] | undefined
  readonly onResolved: (addresses: readonly string[]) => void
  readonly onLookup: NameLookups['ended']
  readonly resolve: Resolve | undefined
}

/** With a single address, each connection resolves the name itself. */
const anyAddress = ''

/** One configured target: a single server, or one for each address of its name. */
export function createTargetGroup(origin: string, parts: TargetGroupParts) {
  const { createOne, dnsSeconds, onResolved, onLookup, resolve } = parts
  const known = dnsSeconds === 0 ? [] : (parts.known ?? [])
  let targets = new Map(
    keysOf(known).map((key) => [key, createOne(key || undefined, false)] as const),
  )
  let only = known.length === 1 ? known[0] : undefined
  const retired = new Set<Target>()
  let changed = () => {}

  function retire(target: Target): void {
    retired.add(target)
    void target.retire().then(() => retired.delete(target))
  }
  function follow(found: readonly string[]): void {
    const before = targets
    // Otherwise its idle connections would lead to the old address.
    const isMoved = found.length === 1 && only !== undefined && only !== found[0]
    only = found.length === 1 ? found[0] : undefined
    targets = new Map(
      keysOf(found).map((key) => {
        const same = isMoved ? undefined : before.get(key)
        return [key, same ?? createOne(key || undefined, isMoved)]
      }),
    )
    for (const [key, target] of before) if (targets.get(key) !== target) retire(target)
    onResolved(found)
    changed()
  }

  const addresses =
    dnsSeconds === 0
      ? undefined
      : watchAddresses({
          host: new URL(origin).hostname,
          refreshMs: dnsSeconds * 1000,
          onChange: follow,
          onLookup,
          ...(resolve !== undefined && { resolve }),
        })

  return {
    targets: () => [...targets.values()],
    onChange(listener: () => void) {
      changed = listener
    },
    retire() {
      addresses?.close()
      for (const target of targets.values()) void target.retire()
    },
    close() {
      addresses?.close()
      for (const target of [...targets.values(), ...retired]) target.destroy()
    },
  }
}

function keysOf(addresses: readonly string[]): readonly string[] {
  return addresses.length > 1 ? addresses : [anyAddress]
}
