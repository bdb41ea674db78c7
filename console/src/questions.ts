import type { Query } from './address.ts'
import type { ParametersOf, Question as Path } from './api.ts'
import { questionIn } from './lib/call-question.ts'
import { hasStoredDraft } from './state/draft.ts'

/** A path of the management API with its parameters. No path: nothing to ask yet. */
type Question = readonly [path: Path | undefined, parameters: object]

/** With the questions that make sense after its answer. */
type FirstQuestion = readonly [...Question, then?: readonly Question[]]

function question<P extends Path, Given extends ParametersOf<P>>(
  path: P | undefined,
  parameters: Given,
) {
  return [path, parameters] as const
}

/** What pages ask for first, by what their address says. */
export const questions = {
  fleet: () => question('fleet', {}),
  recorded: () => question('audit/list', { limit: 5 }),
  explain(query: Query) {
    const parameters = questionIn(query)
    return question(parameters && 'policy/explain', parameters ?? {})
  },
  who({ method = 'GET', path = '', host, revision }: Query) {
    const parameters = { method, path, host, revision, accounts: true }
    return question(path === '' ? undefined : 'policy/who', parameters)
  },
  can({ role = '', compare, host, revision }: Query) {
    return question(role === '' ? undefined : 'policy/can', { role, compare, host, revision })
  },
  matrix: ({ host, revision }: Query) =>
    question('policy/matrix', { compact: true, host, revision }),
  open: ({ host, revision }: Query) => question('policy/open', { host, revision }),
  status: () => question('policy/status', {}),
  proposals: () => question('policy/proposals', {}),
  proposal: (revision: string) => question('policy/proposals', { revision }),
  shadow: () => question('policy/shadow', {}),
  history: () => question('policy/history', { limit: 200 }),
  diff: (from: string, to: string) => question('policy/diff', { from, to }),
  users: () => question('user/list', {}),
  user: (name: string) => question('user/show', { name }),
  roles: () => question('role/list', {}),
  role: (key: string) => question('role/show', { key }),
  sessions: ({ user }: Query) => question('session/list', { user, limit: 1000 }),
  locks: () => question('login/locks', {}),
  logins: ({ user, address, outcome, since = '1d' }: Query) =>
    question('login/list', { user, address, outcome, since, limit: 500 }),
  audit: ({ actor, action, subject, since }: Query) =>
    question('audit/list', { actor, action, subject, since, limit: 500 }),
}

/** The files that a draft begins with. */
export const filesQuestion = (revision: string | undefined) =>
  ['policy/files', { revision, tests: true }] as const

/** What the page of an address cannot do without, so that it can be asked before the page is there. */
export function firstQuestions(page: string, query: Query): readonly FirstQuestion[] {
  return byPage[page]?.(query) ?? []
}

type QuestionsOf = (query: Query) => readonly FirstQuestion[]

const byPage: { readonly [page: string]: QuestionsOf | undefined } = {
  overview: () => [questions.fleet(), questions.recorded()],
  fleet: () => [questions.fleet()],
  can: (query) => [questions.explain(query)],
  who: (query) => [questions.who(query)],
  role: (query) => [questions.can(query)],
  matrix: (query) => [questions.matrix(query)],
  open: (query) => [questions.open(query)],
  changes({ from = '', to = '', proposal = '' }) {
    if (proposal !== '') return [questions.proposal(proposal)]
    if (from !== '' && to !== '') return [questions.diff(from, to)]
    // The others are only for gateways that have something published.
    const others = [questions.proposals(), questions.shadow(), questions.history()]
    return [[...questions.status(), others]]
  },
  // A draft of this tab goes on without a question.
  editor: ({ revision }) => (hasStoredDraft() ? [] : [filesQuestion(revision)]),
  people: ({ name = '' }) => [name === '' ? questions.users() : questions.user(name)],
  roles: ({ key = '' }) => [key === '' ? questions.roles() : questions.role(key)],
  sessions: (query) => [questions.sessions(query)],
  logins: (query) => [questions.locks(), questions.logins(query)],
  audit: (query) => [questions.audit(query)],
}
