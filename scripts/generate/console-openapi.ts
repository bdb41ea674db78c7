import type { OperationView } from '../../src/cli/command.ts'
import * as answers from '../../src/console/access/answers.ts'
import { directoryName, draftName, mostFiles } from '../../src/console/api/draft.ts'
import { acceptedBy } from '../../src/console/api/register.ts'
import { decisionEvents, trafficEvents } from '../../src/console/live/events.ts'
import { errors, problem } from '../../src/console/problem.ts'
import { version } from '../../src/kernel/version.ts'
import { type Call, calls, hasFiles, isPost, pathOf } from '../../src/operations/offered/offered.ts'
import type { Parameter } from '../../src/operations/offered/parameters.ts'
import { createSchemas, type Schemas } from './named-schemas.ts'

/** The description of the management API, as `docs/console-openapi.yaml` has it. */
export async function openApiDocument(
  viewOf: (call: Call) => Promise<OperationView>,
): Promise<object> {
  const schemas = createSchemas()
  const paths: Record<string, Record<string, object>> = accessPaths(schemas)
  for (const call of calls) {
    const { operation, kind } = call
    const { formats, mayDecline } = await viewOf(call)
    const answer = kind === 'review' ? (operation.plan ?? {}) : operation.document
    const document = schemas.refer(answer, schemaName(call))
    const path = `/${pathOf(call)}`
    const described = describe(call, await acceptedBy(call, viewOf), {
      ...{ document, mayDecline },
      formats: kind === 'review' ? [] : formats,
    })
    paths[path] = { ...paths[path], [isPost(call) ? 'post' : 'get']: described }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Management API of Postern',
      version,
      description:
        'Each operation does what the command of the same name does. The answer is what the command prints with --output json; the header Postern-Exit-Code has its exit code.',
    },
    servers: [{ url: '/console/api/v1' }],
    security: [...forPeople.security, { token: [] }],
    paths,
    components: {
      securitySchemes: {
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: '__Host-postern-console',
          description: 'postern-console on plain HTTP.',
        },
        token: {
          ...{ type: 'http', scheme: 'bearer' },
          description: 'Of a service account in console.services; not beside a session.',
        },
      },
      responses: responses(schemas),
      schemas: schemas.all(),
    },
  }
}

interface Documented {
  readonly document: object
  readonly formats: readonly string[]
  readonly mayDecline: boolean
}

function describe(call: Call, parameters: readonly Parameter[], documented: Documented): object {
  const { kind, role, operation } = call
  const needs = kind === 'change' ? ', console.write and a recent confirmation' : ''
  const only = kind === 'review' ? ' and console.write. Says what the change would do' : ''
  return {
    operationId: `${kind}-${operation.name.replaceAll(' ', '-')}`,
    summary: operation.summary,
    description: `Needs the role ${role}${needs}${only}.`,
    'x-role': role,
    ...(isPost(call)
      ? { requestBody: { required: true, content: jsonContent(bodySchema(call, parameters)) } }
      : { parameters: parameters.map(inQuery) }),
    responses: { 200: answerOf(documented), ...problemsOf(400, 401, 403, 422, 429, 503) },
  }
}

/** What the command prints, with the schema of its JSON. */
function answerOf({ document, formats, mayDecline }: Documented): object {
  // An answer too: the operation asked, and refuses or found nothing.
  const schema = mayDecline ? { anyOf: [document, schemaRef('Errors')] } : document
  const others = Object.entries(textTypes).filter(([format]) => formats.includes(format))
  const content = Object.fromEntries(others.map(([, type]) => [type, textContent]))
  return { ...answered, content: { ...jsonContent(schema), ...content } }
}

function schemaRef(name: string): object {
  return { $ref: `#/components/schemas/${name}` }
}

/** `UserList` of `user list`. What a change and its review answer differs from a question of the same name. */
function schemaName({ operation, kind }: Call): string {
  const name = operation.name.replaceAll(/(?:^| )([a-z])/g, (_, letter: string) =>
    letter.toUpperCase(),
  )
  if (kind === 'review') return `${name}Plan`
  const isSecond = kind === 'change' && questions.has(operation.name)
  return `${name}${isSecond ? 'Change' : ''}`
}

const questions = new Set(
  calls.flatMap(({ operation: { name, kind } }) => (kind === 'question' ? [name] : [])),
)

function inQuery({ name, description, isRequired, schema }: Parameter): object {
  return { name, in: 'query', description, required: isRequired, schema }
}

function bodySchema(call: Call, parameters: readonly Parameter[]): object {
  const isDrafted = hasFiles(call)
  const members = parameters.map(({ name, description, schema }) => {
    return [name, { ...schema, description }] as const
  })
  const required = parameters.filter(({ isRequired }) => isRequired).map(({ name }) => name)
  return {
    type: 'object',
    additionalProperties: false,
    properties: {
      ...(isDrafted && { files, directory }),
      ...Object.fromEntries(members),
    },
    required: [...(isDrafted ? ['files'] : []), ...required],
  }
}

const files = {
  type: 'array',
  minItems: 1,
  maxItems: mostFiles,
  description: 'The files of the draft.',
  items: {
    type: 'object',
    additionalProperties: false,
    properties: { name: { type: 'string', pattern: draftName }, text: { type: 'string' } },
    required: ['name', 'text'],
  },
}

const directory = {
  type: 'string',
  pattern: directoryName,
  description: 'The directory of the files, as the command names it in what it prints.',
}

function jsonContent(schema: object): object {
  return { 'application/json': { schema } }
}

const problems: Readonly<Record<number, string>> = {
  400: 'The parameters are not valid, or a login was refused.',
  401: 'No session, or it has ended.',
  403: 'The role does not allow it, also for this account, the password was not entered within five minutes, or another site asks.',
  422: 'The policy, a file or the configuration is not valid.',
  429: 'Too many questions wait, or too many logins failed: try again after Retry-After seconds.',
  503: 'Redis, the database or the gateway is unreachable.',
}

function problemsOf(...statuses: readonly number[]): object {
  const named = statuses.map((status) => [`${status}`, `Problem${status}`] as const)
  return Object.fromEntries(
    [...named, ['default', 'Problem'] as const].map(([status, name]) => [
      status,
      { $ref: `#/components/responses/${name}` },
    ]),
  )
}

const textContent = { schema: { type: 'string' } }

const textTypes = { text: 'text/plain', csv: 'text/csv', jsonl: 'application/jsonl' }

const answered = {
  description: 'The answer.',
  headers: {
    'Postern-Exit-Code': { description: 'Exit code of the command.', schema: { type: 'string' } },
  },
}

function responses(schemas: Schemas): object {
  schemas.refer(errors, 'Errors')
  const content = {
    'application/problem+json': { schema: schemas.refer(problem, 'Problem') },
    // Its first line, where the caller asked for another format than JSON.
    'text/plain': textContent,
  }
  return {
    Problem: { description: 'Another error: nothing there, too large, or a bug.', content },
    ...Object.fromEntries(
      Object.entries(problems).map(([status, description]) => [
        `Problem${status}`,
        { description, content },
      ]),
    ),
  }
}

const open = { security: [] }
/** Not for programs. */
const forPeople = { security: [{ session: [] }] }

/** The routes that are no command: login, what a login page needs, and live streams. */
function accessPaths({ refer }: Schemas): Record<string, Record<string, object>> {
  const json = (description: string, schema: object, ...statuses: readonly number[]) => ({
    responses: { 200: { description, content: jsonContent(schema) }, ...problemsOf(...statuses) },
  })
  const body = (schema: object) => ({
    requestBody: { required: true, content: jsonContent(schema) },
  })
  const session = refer(answers.session, 'Session')
  /** Each event has a name, and data in JSON. */
  const stream = (name: string, events: Readonly<Record<string, object>>) => {
    const anyOf = Object.entries(events).map(([event, data]) => ({
      type: 'object',
      properties: { event: { const: event }, data },
      required: ['event', 'data'],
    }))
    const schema = refer({ description: 'One event.', anyOf }, name)
    return {
      responses: {
        200: { description: 'A stream of events.', content: { 'text/event-stream': { schema } } },
        ...problemsOf(401, 403, 429, 503),
      },
    }
  }
  const moved = {
    responses: {
      302: { description: 'To the provider, or back to the pages.' },
      ...problemsOf(400, 401, 403, 429, 503),
    },
  }
  const back = {
    responses: {
      200: { description: 'A page that moves on.', content: { 'text/html': textContent } },
      ...problemsOf(400, 429, 503),
    },
  }
  return {
    '/session': {
      get: {
        summary: 'who is logged in',
        ...forPeople,
        ...json('The session.', session, 401, 403, 503),
      },
    },
    '/session/confirm': {
      post: {
        summary: 'enter the password or code again',
        ...forPeople,
        ...body(refer(answers.confirmation, 'Confirmation')),
        ...json('The confirmed session, in the cookie.', session, 400, 401, 403, 429, 503),
      },
    },
    '/login': {
      post: {
        ...{ summary: 'log in', ...open, ...body(refer(answers.credentials, 'Credentials')) },
        ...json('The session, in the cookie.', session, 400, 403, 429, 503),
      },
    },
    '/logout': {
      post: {
        summary: 'log out',
        ...forPeople,
        ...json('Logged out.', refer(answers.loggedOut, 'LoggedOut'), 401, 403, 503),
      },
    },
    '/providers': {
      get: {
        summary: 'ways to log in',
        ...open,
        ...json('Ways to log in.', refer(answers.providers, 'Providers'), 403),
      },
    },
    '/live/traffic': {
      get: {
        summary: 'requests by outcome, as server-sent events',
        ...stream('TrafficEvent', trafficEvents),
      },
    },
    '/live/decisions': {
      get: {
        summary: 'decisions, as server-sent events',
        ...stream('DecisionEvent', decisionEvents),
      },
    },
    '/captcha': {
      get: {
        summary: 'a captcha',
        ...open,
        ...json('Its ID and picture.', refer(answers.captcha, 'Captcha'), 403, 429, 503),
      },
    },
    '/captcha.wav': {
      get: {
        ...{ summary: 'its recording', ...open },
        parameters: [
          { ...inUrl('text'), required: true, description: 'From the address of the recording.' },
          { ...inUrl('lang'), description: 'zh or en (default).' },
        ],
        responses: {
          200: {
            description: 'A recording.',
            content: { 'audio/wav': { schema: { type: 'string', format: 'binary' } } },
          },
          ...problemsOf(403, 429, 503),
        },
      },
    },
    '/login/oidc/{provider}': {
      get: {
        summary: 'log in with a provider',
        ...open,
        parameters: [
          { name: 'provider', in: 'path', required: true, schema: { type: 'string' } },
          { ...inUrl('to'), description: 'Where the pages go on, such as #/who.' },
          { ...inUrl('confirm'), description: 'Confirms the session of the caller.' },
        ],
        ...moved,
      },
    },
    '/login/oidc/{provider}/callback': {
      get: {
        ...{ summary: 'where providers return to', ...open },
        parameters: [{ name: 'provider', in: 'path', required: true, schema: { type: 'string' } }],
        ...back,
      },
    },
  }
}

function inUrl(name: string) {
  return { name, in: 'query', schema: { type: 'string' } }
}
