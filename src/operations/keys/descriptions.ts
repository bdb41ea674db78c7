import { Type } from '../../config/schema/type.ts'
import { local, question } from '../operation.ts'
import { flag, nullable, text } from '../schema.ts'

const dir = {
  value: 'DIR',
  local: true,
  description: 'key directory (default: jwt.keyDirectory of the configuration)',
} as const

export const keysGenerate = local({
  kind: 'change',
  name: 'keys generate',
  summary: 'generate a key that signs tokens or policies',
  input: {
    for: {
      value: 'WHAT',
      choices: ['tokens', 'policy'],
      default: 'tokens',
      description: 'what the key signs: tokens or policy',
    },
    alg: {
      value: 'ALGORITHM',
      choices: ['ES256', 'RS256', 'EdDSA', 'HS256'],
      description: 'ES256, RS256, EdDSA or HS256 (default: ES256; for policy: EdDSA)',
    },
    kid: {
      value: 'KID',
      description:
        'key ID (default: the date and six random hex digits; for policy: your user name)',
    },
    out: {
      value: 'DIR',
      description: 'key directory (default: jwt.keyDirectory of the configuration; for policy: .)',
    },
  },
  document: Type.Union([
    Type.Object({ kid: text, algorithm: text, file: text, first: flag, directory: text }),
    Type.Object({ name: text, algorithm: text, file: text, publicKey: text, fingerprint: text }),
  ]),
})

export const keysList = question({
  name: 'keys list',
  summary: 'list the keys of a directory and show which one signs',
  input: { dir },
  document: Type.Object({
    signer: nullable(text, 'null: no key of the directory signs.'),
    keys: Type.Array(
      Type.Object({
        ...{ kid: text, algorithm: text, role: Type.Enum(['verifies', 'signs', 'could sign']) },
        thumbprint: nullable(text, 'null: the key is a shared secret.'),
        file: text,
      }),
    ),
  }),
})

export const keysUse = local({
  kind: 'change',
  name: 'keys use',
  summary: 'sign new tokens with another key of the directory',
  input: {
    kid: {
      ...{ value: 'KID', required: 'give the ID of the key' },
      description: 'key ID, as "postern keys list" shows it',
    },
    dir,
  },
  document: Type.Object({ signer: text, directory: text }),
})
