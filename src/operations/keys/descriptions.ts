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
  details: `Writes DIR/KID.pem (HS256: DIR/KID.jwk), readable only by its owner, and prints the key ID. Never
overwrites a key. Records the new key in the audit log if the configured database is reachable.

The first key of a directory signs unless jwt.secret is set. Further keys only verify until you run
"postern keys use": copy a new key to every replica first.

With --for policy, the key is a person's, for signatures that policy.trust requires: writes DIR/KID.pem
and DIR/KID.pub, and prints the line for policy.trust.keys. KID is the name of the person. Gateways
need only that line: keep the private key out of jwt.keyDirectory.`,
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
  details: 'Prints nothing secret. The thumbprint is that of RFC 7638.',
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
  details: `Writes KID to DIR/signer; running gateways reload it. Tokens of the other keys stay valid while those
files exist.

Run it when every replica has the key: a replica without it rejects the tokens that the others
sign. In a Kubernetes Secret, change the entry "signer" instead. Records the change in the audit log if
the configured database is reachable.`,
  input: {
    kid: {
      ...{ value: 'KID', required: 'give the ID of the key' },
      description: 'key ID, as "postern keys list" shows it',
    },
    dir,
  },
  document: Type.Object({ signer: text, directory: text }),
})
