import { createPasswordHash } from '../../login/password-hash.ts'
import { brokenPasswordRule } from '../../login/passwords/password-rules.ts'
import { catalogs } from '../../messages/catalogs.ts'
import { randomPassword } from '../../stores/accounts/random-password.ts'
import type { Context } from '../context.ts'
import { UnusableValue } from '../invalid-input.ts'

/**
 * The password on standard input, or a generated one, which `shown` has: the document shows it once. Throws
 * for one that the rules forbid.
 */
export async function newPassword(
  input: { readonly name: string; readonly 'password-stdin': boolean },
  context: Context,
) {
  const isGiven = input['password-stdin']
  const text = isGiven ? (await context.readStdin()).replace(/\r?\n$/, '') : randomPassword()
  const problem = passwordProblem(text, input.name)
  if (problem !== undefined) throw new UnusableValue(problem)
  return { hash: () => hashPassword(text), shown: isGiven ? {} : { password: text } }
}

/** Why this text cannot be the password of that user, if so. */
export function passwordProblem(text: string, username: string): string | undefined {
  const rule = brokenPasswordRule(text, { username })
  return rule === undefined ? undefined : catalogs.en[rule]
}

export function hashPassword(text: string): Promise<string> {
  return createPasswordHash({ concurrency: 1, queue: 0 }).hash(text)
}
