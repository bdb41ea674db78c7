import type { keysGenerate, keysList } from '../../operations/keys/descriptions.ts'
import type { DocumentOf } from '../../operations/operation.ts'
import { formatTable, json } from '../format.ts'
import { type ViewOf, warnings } from '../view.ts'

export const keysListView: ViewOf<typeof keysList, { readonly isNamed: boolean }> = {
  text({ document, shown, notes = [] }) {
    const rows = document.keys.map(({ kid, algorithm, role, thumbprint }) => {
      return [kid, algorithm, role, thumbprint ?? '-']
    })
    const unnamed = 'postern: note: no file "signer" exists, so jwt.secret signs if it is set\n'
    return {
      out: formatTable([['KID', 'ALG', 'ROLE', 'THUMBPRINT'], ...rows]),
      err: `${warnings(notes)}${shown?.isNamed ? '' : unnamed}`,
    }
  },
  json: ({ document, notes }) => ({ out: json(document), err: warnings(notes) }),
}

export const keysGenerateView: ViewOf<typeof keysGenerate> = {
  text({ document, notes }) {
    const out = 'publicKey' in document ? document.publicKey : document.kid
    return { before: nextSteps(document), out: `${out}\n`, err: warnings(notes) }
  },
  json: ({ document, notes }) => ({
    before: nextSteps(document),
    out: json(document),
    err: warnings(notes),
  }),
}

function nextSteps(document: DocumentOf<typeof keysGenerate>): string {
  if ('publicKey' in document) {
    const { file } = document
    return `postern: generated ${file}; keep it private. Next:
  1. add the line below to policy.trust.keys of every gateway, and restart them
  2. sign with it: postern policy push --key ${file}, or propose and approve
`
  }
  const { kid, first, directory } = document
  if (first) {
    return `postern: generated the first key of ${directory}. Next:
  1. copy ${directory} to every replica and set jwt.keyDirectory to it
  2. if jwt.secret is set, let the key sign instead: postern keys use ${kid} ${directory}
`
  }
  return `postern: generated a key in ${directory}; it does not sign yet. Next:
  1. copy the file to every replica and wait a minute, so that all have loaded it
  2. let it sign: postern keys use ${kid} ${directory}
  3. after jwt.timeout has passed, "postern user totp --reencrypt" has run, and "postern token list" shows no valid token of it, delete the file of the old key
`
}
