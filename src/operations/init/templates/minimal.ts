import { fill } from '../../../kernel/fill.ts'
import { readerPolicy } from './policies.ts'
import { schemaLine, type Template, type TemplateValues } from './template.ts'

export const minimal: Template = {
  defaultUpstream: 'http://127.0.0.1:3000',
  hasAccounts: true,
  env: {},
  ignored: ['data/', 'keys/', 'secrets/'],
  files: (values) => [
    {
      name: 'postern.yaml',
      text: configuration(new URL('./files/minimal.yaml', import.meta.url), values),
    },
    ...readerPolicy(values.role),
  ],
}

/** The configuration of a gateway with accounts, keys and a database of its own. */
function configuration(file: URL, values: TemplateValues, listener = ''): string {
  const accounts = new URL('./files/own-accounts.yaml', import.meta.url)
  return (
    schemaLine + fill(file, { ...values, ownAccounts: fill(accounts, { ...values, listener }) })
  )
}

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
