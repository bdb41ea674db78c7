import { Refusal } from '../../../kernel/errors.ts'
import type { Fields } from '../../fields.ts'
import type { LoginMethod, Verified } from '../../login-method.ts'
import type { FindAccount } from '../../method-kind.ts'
import type { ExternalUser, LoginRequest, LoginResult } from './contract.ts'
import type { DeclaredField } from './declaration.ts'
import type { LoginModule } from './login-module.ts'

interface ModuleMethodParts {
  readonly module: Pick<LoginModule, 'declaration' | 'verify'>
  readonly findAccount: FindAccount
  /** The account that is linked to a user of the module. Throws a Refusal when none is. */
  readonly signIn: (user: ExternalUser) => Promise<Verified>
  readonly onResult: (result: ModuleOutcome) => void
}

export const moduleOutcomes = ['accepted', 'wrong', 'otp-needed', 'failed'] as const
type ModuleOutcome = (typeof moduleOutcomes)[number]

/** Logins that a module of the operator verifies. */
export function createModuleMethod(parts: ModuleMethodParts): LoginMethod {
  const { module, findAccount, signIn, onResult } = parts
  const { name, captcha, secondFactor, countBy, fields: declared } = module.declaration

  async function ask(request: LoginRequest, remoteAddress: string): Promise<LoginResult> {
    try {
      const result = await module.verify({ request, remoteAddress })
      onResult(typeof result === 'object' ? 'accepted' : (result ?? 'wrong'))
      return result
    } catch (error) {
      onResult('failed')
      throw error
    }
  }

  return {
    name,
    captcha,
    secondFactor,
    nameField: countBy,
    bind(fields, { address }) {
      const request = bindRequest(fields, declared)
      return {
        // With the name of the module: a value that is also the name of an account neither locks its
        // owner out nor makes an address known for it.
        name: `${name}:${countedForm(request[countBy] ?? '')}`,
        async verify() {
          const result = await ask(request, address)
          if (result === undefined) return undefined
          if (result === 'otp-needed') throw new Refusal('otp-needed')
          return 'subject' in result ? signIn(result) : existing(result.username)
        },
      }
    },
  }

  async function existing(username: string): Promise<Verified> {
    const account = await findAccount(username)
    const shown = JSON.stringify(username)
    if (account === undefined) {
      const reason = `login module ${name} returned the user name ${shown}, which no account has`
      throw new Refusal('no-account', { reason })
    }
    if (!account.enabled) {
      throw new Refusal('account-disabled', { reason: `account ${shown} is disabled` })
    }
    return { caller: account.caller }
  }
}

function bindRequest(fields: Fields, declared: readonly DeclaredField[]): LoginRequest {
  const request: Record<string, string> = {}
  for (const { name, maxBytes, optional } of declared) {
    const value = optional ? fields.optionalText(name, maxBytes) : fields.text(name, maxBytes)
    if (value !== undefined) request[name] = value
  }
  return request
}

/**
 * Modules read `+49 170-1`, `0049 1701` and `+491701` as one number, so guesses with all of them share
 * one count: only letters and digits differ, without leading zeros.
 */
function countedForm(value: string): string {
  const plain = value.normalize('NFKC').toLowerCase()
  return plain.replaceAll(/[^\p{L}\p{N}]/gu, '').replace(/^0+/, '')
}
