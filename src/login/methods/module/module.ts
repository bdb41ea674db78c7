import type { LoginMethodKind } from '../../method-kind.ts'
import type { ModuleLogin } from './settings.ts'

/** A login module of the operator. Its file says its name. */
export const loginModule: LoginMethodKind<ModuleLogin> = {
  setting: 'module',
  isConfigured: ({ module: file }) => file !== undefined,
  load: () => import('./open-module.ts'),
}
