import { didYouMean } from '../kernel/suggest.ts'

/** At most this many role keys fit into a message. */
const shownRoles = 20

/** Says that no live account has this name. */
export function noSuchUser(name: string, known: readonly string[] = []): string {
  const hint = didYouMean(name, known)
  return `user ${JSON.stringify(name)} does not exist: "postern user list" shows all users${hint}`
}

/** Says that no live role has this key. `hint`: what else to do, before the nearest key. */
export function noSuchRole(key: string, keys: readonly string[], hint = ''): string {
  const known = [...new Set(keys)]
  const shown = known.slice(0, shownRoles).join(', ') || 'none'
  const more = known.length > shownRoles ? ` and ${known.length - shownRoles} more` : ''
  const unknown = `role ${JSON.stringify(key)} does not exist (defined: ${shown}${more})`
  return `${unknown}${hint}${didYouMean(key, known)}`
}

/** A command to paste, for a key that needs no quotes in a shell. */
export function howToCreate(key: string): string {
  if (!/^[A-Za-z][\w.-]{0,127}$/.test(key)) return ''
  const name = key.charAt(0).toUpperCase() + key.slice(1)
  return `; to create it, run "postern role add ${key} --name ${name} --data-scope self"`
}
