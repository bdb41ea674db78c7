import known from './known-exclusions.json' with { type: 'json' }

/** An endpoint that go-admin lets every logged-in caller use, and what it is. */
interface KnownExclusion {
  readonly method: string
  readonly path: string
  readonly reason: string
  /** Business endpoints do not belong on the list (spec, Authentication 6). */
  readonly isBusiness: boolean
}

/** A starting list, as text for `exclusions.yaml`, and what to think about before using it. */
interface StartingList {
  readonly text: string
  readonly warnings: readonly string[]
}

/**
 * The exclusions of the specification (Permission exclusion list), and the rest of what go-admin v2 has compiled in. The
 * reason of a business endpoint says what it does.
 */
const { specified, goAdmin }: Readonly<Record<'specified' | 'goAdmin', readonly KnownExclusion[]>> =
  known

/** The public endpoints of the specification and nothing else. */
export function specifiedExclusions(): StartingList {
  return { text: listOf(specified, false), warnings: [] }
}

/**
 * go-admin's list. Its business endpoints (spec, Authentication 6) are written as comments, or with
 * `withBusiness` as entries, with a warning for each of them either way.
 */
export function goAdminExclusions(withBusiness: boolean): StartingList {
  const warnings = goAdmin
    .filter(({ isBusiness }) => isBusiness)
    .map(({ method, path, reason }) => {
      const done = withBusiness ? 'is excluded' : 'is commented out'
      return `${method} ${path} ${done}: it ${reason}, so it is a business endpoint, which go-admin opens to every logged-in caller`
    })
  return { text: listOf([...specified, ...goAdmin], withBusiness), warnings }
}

function listOf(entries: readonly KnownExclusion[], withBusiness: boolean): string {
  const blocks = entries.map(({ method, path, reason, isBusiness }) => {
    const why = isBusiness ? `CHECK THIS: a business endpoint, it ${reason}.` : reason
    const lines = [`- method: ${method}`, `  path: ${path}`, `  reason: ${JSON.stringify(why)}`]
    return lines.map((line) => (isBusiness && !withBusiness ? `# ${line}` : line)).join('\n')
  })
  return `${heading}\n\n${blocks.join('\n\n')}\n`
}

const heading =
  '# Endpoints that skip the permission check: every logged-in caller may call them, whatever the role.'
