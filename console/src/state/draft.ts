import type { DraftFile } from '../lib/draft.ts'

/** A draft, and what it began with. */
export interface Draft {
  /** `live`, a revision, or a directory of the machine that the console runs on. */
  readonly policy: string
  /** The revision of the files that it began with; `null` if those were not valid. */
  readonly revision: string | null
  /** What was live then: only that may be replaced. `null` where nothing is published. */
  readonly over: string | null
  readonly base: readonly DraftFile[]
  readonly files: readonly DraftFile[]
}

const prefix = 'postern-draft-'

/** The draft of this person, if this tab has one. Drafts of others are removed. */
export function storedDraft(username: string): Draft | undefined {
  try {
    for (const key of draftKeys()) {
      if (key !== prefix + username) sessionStorage.removeItem(key)
    }
    const stored = sessionStorage.getItem(prefix + username)
    return stored === null ? undefined : (JSON.parse(stored) as Draft)
  } catch {
    return undefined
  }
}

/** Whether this tab has a draft of anyone. */
export function hasStoredDraft(): boolean {
  try {
    return draftKeys().length > 0
  } catch {
    return false
  }
}

/** Keeps a draft until the tab is closed. Returns whether the browser had room for it. */
export function storeDraft(username: string, draft: Draft | undefined): boolean {
  try {
    if (draft === undefined) sessionStorage.removeItem(prefix + username)
    else sessionStorage.setItem(prefix + username, JSON.stringify(draft))
    return true
  } catch {
    // Else a reload would bring back an earlier state.
    clearDrafts()
    return false
  }
}

/** Removes every draft, at a logout: the next person at this browser must not see it. */
export function clearDrafts(): void {
  try {
    for (const key of draftKeys()) sessionStorage.removeItem(key)
  } catch {}
}

function draftKeys(): readonly string[] {
  return Object.keys(sessionStorage).filter((key) => key.startsWith(prefix))
}
