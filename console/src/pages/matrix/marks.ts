import type { CompactMatrix } from '#client'

/** What a cell says. */
export type CellWord = CompactMatrix['cells'][string]

/** The sign and the class of each cell. Signs say the same as colors. */
export const marks: Readonly<Record<CellWord, readonly [sign: string, name: string]>> = {
  allowed: ['✓', 'own'],
  inherited: ['↑', 'inherited'],
  everyone: ['∗', 'everyone'],
  superuser: ['★', 'superuser'],
  admin: ['A', 'everyone'],
  partly: ['◐', 'part'],
  'partly inherited': ['◑', 'part'],
  'partly everyone': ['◒', 'part'],
  denied: ['✕', 'deny'],
  no: ['', 'none'],
}
