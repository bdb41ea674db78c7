import { printable } from '../../kernel/printable.ts'
import type { Head, PolicyStore } from '../../stores/policies/policy-store.ts'

/** Which revision a publication may replace. */
export interface OverOption {
  /** The value of `--over`: a revision, or `live` for any. */
  readonly option: string | undefined
  /** The directory of the files, and the revision that they come from, if recorded. */
  readonly directory?: {
    readonly name: string
    readonly base: string | undefined
    /** The revision that was proposed with these files. */
    readonly proposed?: string | undefined
  }
}

/** What to publish, and whether a person sees the diff and confirms it. */
interface Candidate {
  readonly revision: string
  readonly over: OverOption
  readonly isAsked: boolean
}

/**
 * Why a publication must not replace what is live, if so: it would undo what someone else published
 * after its author last looked. Publishing the live revision again undoes nothing.
 */
export async function overProblem(
  live: Head | undefined,
  { revision, over, isAsked }: Candidate,
  store: PolicyStore,
): Promise<string | undefined> {
  const { option, directory } = over
  if (option === 'live' || live?.revision === revision) return undefined
  if (live === undefined) {
    if (option === undefined) return undefined
    return `refused: --over is ${option}, but nothing is published; run again without --over`
  }

  if (option !== undefined) {
    if (live.revision.startsWith(option)) return undefined
    return `refused: --over is ${option}, but ${await describeHead(live, store)}; nothing was published. ${advice(option, live)}`
  }
  if (directory === undefined) return undefined
  const { name, base, proposed } = directory
  if (base === live.revision || proposed === live.revision) return undefined
  if (base !== undefined) {
    return `refused: ${name} comes from ${base}, but ${await describeHead(live, store)}; publishing would undo that. ${advice(base, live)}`
  }
  if (isAsked) return undefined
  return `refused: ${name} does not record which revision it comes from, and ${await describeHead(live, store)}; review the diff above, then run again with --yes --over ${live.revision} (or --over live, to replace whatever is live)`
}

function advice(from: string, { revision }: Head): string {
  return `Run "postern policy diff ${from} ${revision}", merge the changes into your files, then run again with --over ${revision}`
}

/** `r-3f2a9c81d604 is live (push by ann at 2026-…: why)`. */
export async function describeHead(
  { revision, sequence }: Head,
  store: PolicyStore,
): Promise<string> {
  const moves = await store.history(20)
  const move = moves.find((each) => each.sequence === sequence)
  const by =
    move === undefined ? '' : ` (${move.kind} by ${move.author} at ${move.at}: ${move.message})`
  return printable(`${revision} is live${by}`)
}
