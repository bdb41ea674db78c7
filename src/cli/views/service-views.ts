import type { DocumentOf } from '../../operations/operation.ts'
import type { serviceList, tokenIssue, tokenList } from '../../operations/services/descriptions.ts'
import { formatTable, json } from '../format.ts'
import { type ViewOf, warnings } from '../view.ts'

export const serviceListView: ViewOf<typeof serviceList> = {
  text({ document }) {
    const rows = document.map(({ userId, name, role, createdAt, note }) => {
      return [userId, name, role, createdAt, note]
    })
    return formatTable([['ID', 'NAME', 'ROLE', 'CREATED', 'NOTE'], ...rows])
  },
}

export const tokenListView: ViewOf<typeof tokenList> = {
  text: ({ document, notes }) => ({
    out: formatTable([titles, ...document.map(row)]),
    err: warnings(notes),
  }),
  json: ({ document, notes }) => ({ out: json(document), err: warnings(notes) }),
}

export const tokenIssueView: ViewOf<typeof tokenIssue> = {
  text: ({ document }) => `${document.token}\n`,
}

const titles = [
  ...['ID', 'SERVICE', 'ROLE', 'STATUS', 'ISSUED', 'EXPIRES', 'LAST SEEN', 'KEY', 'ISSUED BY'],
  'NOTE',
]

function row(token: DocumentOf<typeof tokenList>[number]): readonly string[] {
  const { id, service, role, status, issuedAt, expiresAt, lastSeen, kid, issuedBy, note } = token
  return [
    ...[id, service, role, status, day(issuedAt), day(expiresAt), lastSeen ?? 'never'],
    ...[kid ?? 'jwt.secret', issuedBy, note],
  ]
}

function day(iso: string): string {
  return iso.slice(0, 10)
}
