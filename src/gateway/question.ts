import type { Question } from '../policy/decide.ts'
import type { Identified } from './stages.ts'

/** What the policy is asked about a request, by whatever asks: the check, a shadow, a later sweep. */
export function questionOf(
  { call }: Pick<Identified['received'], 'call'>,
  token: Identified['token'],
): Question {
  return {
    roleKey: token?.caller.roleKey ?? '',
    // Only one of them exists: the configuration names the host or a claim.
    domain: call.domain ?? token?.domain,
    method: call.method,
    path: call.path,
  }
}

/** The question about the path that COPY or MOVE writes to, if the request has one. */
export function destinationQuestion(
  question: Question,
  { destination }: Pick<Identified['received'], 'destination'>,
): Question | undefined {
  return destination && { ...question, path: destination.path }
}
