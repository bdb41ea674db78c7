import { type CommandSpec, configOption, outputOption } from '../command.ts'

const name = { name: 'NAME', description: 'user name' } as const
const common = { ...outputOption, ...configOption } as const
const provider = { value: 'PROVIDER', description: 'name of a provider in the settings' } as const
const exitCodes = {
  0: 'done',
  3: 'the configuration or a table is not valid',
  5: 'a store is unreachable',
} as const

export const linkSpec = {
  name: 'user link',
  summary: 'let a person of an identity provider, directory or login module log in as this user',
  details: `The subject is the person's unchanging ID there: the claim "sub" of an ID token, entryUUID or objectGUID of a
directory entry. The log line of a refused first login shows it. The password of the user stays valid.`,
  arguments: [name],
  options: {
    provider: { ...provider, required: 'give the name of the provider' },
    subject: {
      value: 'SUBJECT',
      required: "give the person's ID at the provider",
      description: "the person's ID at the provider",
    },
    issuer: {
      value: 'URL',
      description: 'issuer of the subject, if not the one in the settings',
    },
    ...common,
  },
  exitCodes: { ...exitCodes, 1: 'not done: unknown user or provider, or the subject is linked' },
  examples: ['postern user link alice --provider corp --subject 248289761001'],
} as const satisfies CommandSpec

export const unlinkSpec = {
  name: 'user unlink',
  summary: 'remove the links of a user to other systems and revoke their tokens',
  details: `Without --provider, removes every link. The next login of that person is a first login: with "create" on, it is
refused because the name is taken. "postern user disable" keeps the person out. Revokes every token of the user on every gateway,
within a second.`,
  arguments: [name],
  options: { provider, ...common },
  exitCodes: { ...exitCodes, 1: 'not done: unknown user, or not linked' },
  examples: ['postern user unlink alice', 'postern user unlink alice --provider corp'],
} as const satisfies CommandSpec
