import fastify from 'fastify'
import { describe, expect, test } from 'vitest'
import { openApiDocument } from '../../scripts/generate/console-openapi.ts'
import { renderingOf } from '../../src/cli/commands/renderings.ts'
import { addCaptchaRoutes } from '../../src/console/access/captcha-routes.ts'
import { addLoginRoutes } from '../../src/console/access/login-routes.ts'
import { addOidcRoutes } from '../../src/console/access/oidc-routes.ts'
import { createOperations } from '../../src/console/api/register.ts'
import { addLiveRoutes } from '../../src/console/live/routes.ts'
import { type Call, calls, isPost, pathOf } from '../../src/operations/offered/offered.ts'
import { parametersOf } from '../../src/operations/offered/parameters.ts'
import { answering } from '../../src/serve/console/answering.ts'

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
  const register = await createOperations({ ...answering, io, config: undefined })
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
    const { paths } = (await openApiDocument(renderingOf)) as {
      paths: Record<string, Record<string, object>>
    }
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )

    const routes = await routesOf(true)
    expect(described.toSorted()).toEqual(routes.map(({ name }) => name).toSorted())
  })

  test('lets no body have members that it does not name', async () => {
    const { paths } = (await openApiDocument(renderingOf)) as { paths: object }

    const bodies = Object.entries(paths).flatMap(([path, { post }]) =>
      post?.['x-role'] === undefined ? [] : [[path, post.requestBody] as const],
    )
    expect(bodies.length).toBe(calls.filter(isPost).length)
    for (const [path, { content }] of bodies) {
      const { schema } = content['application/json']
      expect([path, schema.additionalProperties]).toEqual([path, false])
    }
  })
})

describe('without console.write', () => {
  test('the API has no operation that changes anything', async () => {
    const added = (await routesOf(true)).length - (await routesOf(false)).length

    const changes = calls.filter(({ operation: { kind } }) => kind === 'change')
    expect(added).toBe(changes.length)
    const posts = (await routesOf(false)).filter(({ name }) => name.startsWith('POST '))
    const drafts = calls.filter(({ kind }) => kind === 'draft').map(lineOf)
    const access = ['POST /login', 'POST /logout', 'POST /session/confirm']
    expect(posts.map(({ name }) => name).toSorted()).toEqual([...drafts, ...access].toSorted())
  })
})

describe('every operation', () => {
  test('needs a role, and a change a recent password besides', async () => {
    const routes = new Map((await routesOf(true)).map(({ name, access }) => [name, access]))

    for (const call of calls) {
      const { role, kind, operation } = call
      const access = kind === 'change' ? { role, confirmed: true } : { role }
      expect([lineOf(call), routes.get(lineOf(call))]).toEqual([lineOf(call), access])
      if (operation.kind === 'change') expect(role).not.toBe('reader')
    }
  })

  test('lets no caller name a file, a directory, an address or a token', () => {
    for (const call of calls) {
      const { name, input } = call.operation
      for (const parameter of parametersOf(call)) {
        const { value = '', published = false } = input[parameter.name] ?? {}
        const isFile = /FILE|DIR|URL|TOKEN|^DOCUMENT/.test(value)
        expect([name, parameter.name, isFile && !published]).toEqual([name, parameter.name, false])
      }
    }
  })
})

function lineOf(call: Call): string {
  return `${isPost(call) ? 'POST' : 'GET'} /${pathOf(call)}`
}
