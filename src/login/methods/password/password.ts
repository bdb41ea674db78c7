import type { LoginMethodKind } from '../../method-kind.ts'
import type { PasswordLogin } from './settings.ts'

/** Name and password: of accounts here, of people in a directory, or both. It is always there. */
export const password: LoginMethodKind<PasswordLogin> = {
  isConfigured: () => true,
  load: () => import('./open-password.ts'),
}
