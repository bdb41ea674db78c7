import { configuration, minimal } from './minimal.ts'
import { readerPolicy } from './policies.ts'
import type { Template } from './template.ts'

export const forwardAuth: Template = {
  ...minimal,
  files: (values) => [
    {
      name: 'postern.yaml',
      text: configuration(
        new URL('./files/forward-auth.yaml', import.meta.url),
        values,
        trustedProxies,
      ),
    },
    ...readerPolicy(values.role),
  ],
}

const trustedProxies = `  # The proxies that may ask.
  trustedProxies: [127.0.0.1, '::1']
`
