import { useMemo } from 'preact/hooks'
import type { Choice } from './lib/choices.ts'
import { useAnswer } from './use-answer.ts'

interface Names {
  readonly roles: readonly Choice[]
  readonly paths: readonly Choice[]
}

/** What comboboxes suggest: the roles and paths that the policy and the routes name. */
export function useNames(): Names {
  const { value } = useAnswer('policy/names', {}, { isOptional: true })
  return useMemo(() => {
    const paths = Map.groupBy(value?.operations ?? [], ({ path }) => path)
    return {
      roles: (value?.roles ?? []).map((role) => ({ value: role })),
      paths: [...paths].map(([path, operations]) => ({
        value: path,
        detail: [...new Set(operations.map(({ method }) => method))].join(' '),
      })),
    }
  }, [value])
}

/** There may be very many accounts, so the first characters choose which ones are asked for. */
const usersAtOnce = 1000
const firstCharacters = 2

/** Accounts that a combobox suggests for a text; `undefined`: none are needed. */
export function useUsers(text: string | undefined): readonly Choice[] {
  const start = [...(text ?? '').trim()].slice(0, firstCharacters).join('')
  const { value } = useAnswer(
    text === undefined ? undefined : 'user/list',
    { 'starts-with': start || undefined, limit: usersAtOnce },
    { isOptional: true },
  )
  return useMemo(
    () => (value ?? []).map(({ username, roleKey }) => ({ value: username, detail: roleKey })),
    [value],
  )
}
