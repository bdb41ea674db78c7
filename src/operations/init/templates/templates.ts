import type { TemplateName } from '../descriptions.ts'
import { goAdmin } from './go-admin.ts'
import { kubernetes } from './kubernetes.ts'
import { forwardAuth, minimal } from './minimal.ts'
import type { Template } from './template.ts'

export const templates: Readonly<Record<TemplateName, Template>> = {
  ...{ minimal, kubernetes },
  'go-admin': goAdmin,
  'forward-auth': forwardAuth,
}
