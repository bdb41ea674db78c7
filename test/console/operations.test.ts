import fastify from 'fastify'
import { describe, expect, test } from 'vitest'
import { openApiDocument } from '../../scripts/generate/console-openapi.ts'
import { findCommand } from '../../src/cli/commands/table.ts'
import {
  draftOperations,
  offeredOperations,
  writeOperations,
} from '../../src/cli/offered/operations.ts'
import { addCaptchaRoutes } from '../../src/console/access/captcha-routes.ts'
import { addLoginRoutes } from '../../src/console/access/login-routes.ts'
import { addOidcRoutes } from '../../src/console/access/oidc-routes.ts'
import { createOperations } from '../../src/console/api/register.ts'
import { addLiveRoutes } from '../../src/console/live/routes.ts'
import { everyCommand } from '../../src/serve/console/every-command.ts'

interface Route {
  readonly name: string
  readonly access: unknown
}

/** The routes that fastify has. */
async function routesOf(write: boolean): Promise<readonly Route[]> {
  const server = fastify()
  const routes: Route[] = []
  server.addHook('onRoute', ({ method, url, config }) => {
    if (method !== 'HEAD') routes.push({ name: `${method} ${url}`, access: config?.access })
  })
  const io = { env: {}, cwd: '.' }
  const register = await createOperations({ commands: everyCommand, io, config: undefined })
  const nothing = {} as never
  addLoginRoutes(server, nothing)
  addCaptchaRoutes(server, { captchas: {} } as never)
  addLiveRoutes(server, { streams: { close() {} } } as never)
  addOidcRoutes(server, { begin: [['{provider}', nothing]] } as never)
  register(server, {
    ...{ guard: nothing, originOf: nothing, protectedRoles: nothing, write },
    onBug() {},
  })
  await server.close()
  return routes
}

describe('the description of the management API', () => {
  test('has every route that the server has, and no other', async () => {
    const { paths } = (await openApiDocument(findCommand)) as {
      paths: Record<string, Record<string, object>>
    }
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )

    const routes = await routesOf(true)
    expect(described.toSorted()).toEqual(routes.map(({ name }) => name).toSorted())
  })

  test('lets no body have members that it does not name', async () => {
    const { paths } = (await openApiDocument(findCommand)) as { paths: object }

    const bodies = Object.entries(paths).flatMap(([path, { post }]) =>
      post?.['x-role'] === undefined ? [] : [[path, post.requestBody] as const],
    )
    expect(bodies.length).toBe(draftOperations.length + writeOperations.length)
    for (const [path, { content }] of bodies) {
      const { schema } = content['application/json']
      expect([path, schema.additionalProperties]).toEqual([path, false])
    }
  })
})

describe('without console.write', () => {
  test('the API has no operation that changes anything', async () => {
    const added = (await routesOf(true)).length - (await routesOf(false)).length

    expect(added).toBe(writeOperations.length)
    const posts = (await routesOf(false)).filter(({ name }) => name.startsWith('POST '))
    const drafts = draftOperations.map(({ command }) => `POST /${command.replaceAll(' ', '/')}`)
    const access = ['POST /login', 'POST /logout', 'POST /session/confirm']
    expect(posts.map(({ name }) => name).toSorted()).toEqual([...drafts, ...access].toSorted())
  })
})

describe('every operation', () => {
  test('needs a role, and a change a recent password besides', async () => {
    const routes = new Map((await routesOf(true)).map(({ name, access }) => [name, access]))

    for (const { command, role, kind } of offeredOperations) {
      const name = `${kind === undefined ? 'GET' : 'POST'} /${command.replaceAll(' ', '/')}`
      const access = kind === 'change' ? { role, confirmed: true } : { role }
      expect([name, routes.get(name)]).toEqual([name, access])
      if (kind === 'change') expect(role).not.toBe('reader')
    }
  })

  test('lets no caller name a file, a directory, an address or a token', async () => {
    for (const operation of offeredOperations) {
      const { spec } = (await findCommand(operation.command)) ?? {}
      for (const name of operation.parameters ?? []) {
        const placeholder =
          spec?.options[name]?.value ??
          spec?.arguments.find((each) => each.name.toLowerCase().split('|').includes(name))?.name ??
          ''
        const isRevision = operation.revisions?.includes(name) === true
        const isFile = /FILE|DIR|URL|TOKEN|^DOCUMENT/.test(placeholder)
        expect([operation.command, name, isFile && !isRevision]).toEqual([
          operation.command,
          name,
          false,
        ])
      }
    }
  })
})
