import { didYouMean } from '../../kernel/suggest.ts'
import { createAccountDirectory } from '../../stores/accounts/account-directory.ts'
import type { Database } from '../../stores/database/database.ts'
import { createServiceDirectory } from '../../stores/services/service-directory.ts'
import { decline } from '../declined.ts'
import { InvalidInput } from '../invalid-input.ts'

/** Says that no service account has this name, and what to do. */
export async function declineService(name: string, database: Database): Promise<never> {
  const isUser = (await createAccountDirectory(database).idsOf(name)).length > 0
  if (isUser) {
    decline(
      `${name} is a user, not a service account: users log in, and "postern user" changes them`,
    )
  }
  const names = (await createServiceDirectory(database).list()).map((service) => service.name)
  const hint = didYouMean(name, names) || ': "postern service list" shows all service accounts'
  return decline(`service account ${JSON.stringify(name)} does not exist${hint}`)
}

const longest = 255

/** Throws `InvalidInput` for a text that cannot be a note. */
export function checkNote(note: string): void {
  if ([...note].length > longest) {
    throw new InvalidInput('note', `use at most ${longest} characters`)
  }
  if (/\p{Cc}|\p{Cs}/u.test(note)) {
    throw new InvalidInput('note', 'must not contain control characters')
  }
}
