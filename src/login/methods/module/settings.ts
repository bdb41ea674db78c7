import type { LinkRules } from '../../linked-account.ts'

export interface ModuleLogin {
  readonly module?: string | undefined
  readonly moduleTimeoutMs: number
  readonly moduleAccounts: Pick<LinkRules, 'create' | 'linkByUsername'>
}
