import type { Command, CommandSpec, FindCommand } from '../../src/cli/command.ts'
import { type Operation, offeredOperations } from '../../src/cli/offered/operations.ts'
import { type Parameter, parametersOf } from '../../src/cli/offered/parameters.ts'
import { directoryName, draftName, mostFiles } from '../../src/console/api/draft.ts'
import { version } from '../../src/kernel/version.ts'

/** The description of the management API, as `docs/console-openapi.yaml` has it. */
export async function openApiDocument(find: FindCommand): Promise<object> {
  const paths: Record<string, Record<string, object>> = structuredClone(accessPaths)
  const schemas: Record<string, object> = { Errors: errors, Problem: problem }
  for (const operation of offeredOperations) {
    const command = await find(operation.command)
    if (command === undefined) throw new Error(`unknown command ${operation.command}`)
    const path = `/${operation.command.replaceAll(' ', '/')}`
    const method = operation.kind === undefined ? 'get' : 'post'
    paths[path] = { ...paths[path], [method]: describe(operation, command) }
    const { operation: typed } = command
    if (typed !== undefined) schemas[schemaName(operation.command)] = typed.document
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Management API of Postern',
      version,
      description:
        'Each operation runs the command of the same name. The answer is what the command prints with --output json; the header Postern-Exit-Code has its exit code.',
    },
    servers: [{ url: '/console/api/v1' }],
    security: [{ session: [] }],
    paths,
    components: {
      securitySchemes: {
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: '__Host-postern-console',
          description: 'postern-console on plain HTTP.',
        },
      },
      responses,
      schemas,
    },
  }
}

function describe(operation: Operation, { spec, operation: typed }: Command): object {
  const { kind = 'question', role } = operation
  const parameters = parametersOf(operation, spec)
  const needs = kind === 'change' ? ', console.write and a recent confirmation' : ''
  return {
    operationId: `${kind}-${operation.command.replaceAll(' ', '-')}`,
    summary: spec.summary,
    description: `Needs the role ${role}${needs}.`,
    'x-role': role,
    ...(kind === 'question'
      ? { parameters: parameters.map(inQuery) }
      : {
          requestBody: { required: true, content: jsonContent(bodySchema(operation, parameters)) },
        }),
    responses: {
      200: typed === undefined ? { $ref: '#/components/responses/Printed' } : documented(spec),
      ...Object.fromEntries(
        Object.keys(problems).map((status) => [
          status,
          { $ref: `#/components/responses/Problem${status}` },
        ]),
      ),
    },
  }
}

/** What the command prints, with the schema of its JSON. */
function documented({ name, exitCodes }: CommandSpec): object {
  const document = schemaRef(schemaName(name))
  // An answer too: the command asked, and refuses or found nothing.
  const schema = exitCodes[1] === undefined ? document : { anyOf: [document, schemaRef('Errors')] }
  return { ...printed, content: { ...jsonContent(schema), 'text/plain': {} } }
}

function schemaRef(name: string): object {
  return { $ref: `#/components/schemas/${name}` }
}

/** `UserList` of `user list`. */
function schemaName(command: string): string {
  return command.replaceAll(/(?:^| )([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

function inQuery({ name, description, isRequired, schema }: Parameter): object {
  return { name, in: 'query', description, required: isRequired, schema }
}

function bodySchema({ draft }: Operation, parameters: readonly Parameter[]): object {
  const members = parameters.map(({ name, description, schema }) => {
    return [name, { ...schema, description }] as const
  })
  const required = parameters.filter(({ isRequired }) => isRequired).map(({ name }) => name)
  return {
    type: 'object',
    additionalProperties: false,
    properties: {
      ...(draft !== undefined && { files, directory }),
      ...Object.fromEntries(members),
    },
    required: [...(draft === undefined ? [] : ['files']), ...required],
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

const errors = {
  type: 'object',
  properties: {
    ok: { const: false },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        properties: { message: { type: 'string' }, kind: { type: 'string' } },
        required: ['message'],
      },
    },
  },
  required: ['ok', 'errors'],
}

/** RFC 9457. What a command printed besides stays a member of it. */
const problem = {
  type: 'object',
  properties: {
    type: {
      type: 'string',
      pattern: '^urn:postern:problem:[a-z-]+$',
      description: 'Which refusal or fault it is; it does not change.',
    },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'What is wrong, in one line.' },
    ...errors.properties,
  },
  required: ['type', 'title', 'status', 'detail'],
}

function jsonContent(schema: object): object {
  return { 'application/json': { schema } }
}

const problems: Readonly<Record<number, string>> = {
  400: 'The parameters are not valid.',
  401: 'No session, or it has ended.',
  403: 'The role does not allow it, also for this account, the password was not entered within five minutes, or another site asks.',
  422: 'The policy, a file or the configuration is not valid.',
  429: 'Too many questions wait: try again after Retry-After seconds.',
  503: 'Redis, the database or the gateway is unreachable.',
}

const printed = {
  description: 'What the command printed.',
  headers: {
    'Postern-Exit-Code': { description: 'Exit code of the command.', schema: { type: 'string' } },
  },
  content: { 'application/json': {}, 'text/plain': {}, 'text/csv': {} },
}

const responses = {
  Printed: printed,
  ...Object.fromEntries(
    Object.entries(problems).map(([status, description]) => [
      `Problem${status}`,
      { description, content: { 'application/problem+json': { schema: schemaRef('Problem') } } },
    ]),
  ),
}

const done = (description: string) => ({ 200: { description } })
const open = { security: [] }
const moved = { 302: { description: 'To the provider, or back to the pages.' } }

/** The routes that are no command: login, and what a login page needs. */
const accessPaths: Readonly<Record<string, Record<string, object>>> = {
  '/session': { get: { summary: 'who is logged in', responses: done('The session.') } },
  '/session/confirm': {
    post: { summary: 'enter the password or code again', responses: done('Confirmed.') },
  },
  '/login': { post: { summary: 'log in', ...open, responses: done('The session.') } },
  '/logout': { post: { summary: 'log out', responses: done('Logged out.') } },
  '/providers': {
    get: { summary: 'ways to log in', ...open, responses: done('Providers.') },
  },
  '/live/traffic': {
    get: { summary: 'requests by outcome, as server-sent events', responses: done('A stream.') },
  },
  '/live/decisions': {
    get: { summary: 'decisions, as server-sent events', responses: done('A stream.') },
  },
  '/captcha': { get: { summary: 'a captcha', ...open, responses: done('Its ID and picture.') } },
  '/login/oidc/{provider}': {
    get: { summary: 'log in with a provider', ...open, responses: moved },
  },
  '/login/oidc/{provider}/callback': {
    get: { summary: 'where providers return to', ...open, responses: moved },
  },
  '/captcha.wav': { get: { summary: 'its recording', ...open, responses: done('A WAV.') } },
}
