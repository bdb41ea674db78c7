import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { startPostern } from '../support/start-postern.ts'

/** What the pages of go-admin-ui 3.x call, by page. Each role has a rule for its page and nothing else. */
const pages: Readonly<
  Record<string, { readonly rules: readonly string[]; readonly calls: readonly string[] }>
> = {
  'every page': {
    rules: [],
    calls: ['GET /api/v1/getinfo', 'GET /api/v1/menurole', 'GET /api/v1/server-monitor'],
  },
  users: {
    rules: ['/api/v1/sys-user, GET', '/api/v1/post, GET', '/api/v1/role, GET'],
    calls: [
      'GET /api/v1/dict-data/option-select?dictType=sys_normal_disable',
      'GET /api/v1/dict-data/option-select?dictType=sys_user_sex',
      'GET /api/v1/sys-user?pageIndex=1&pageSize=10',
      'GET /api/v1/deptTree',
      'GET /api/v1/post?pageSize=1000',
      'GET /api/v1/role?pageSize=1000',
      'GET /api/v1/configKey/sys_user_initPassword',
    ],
  },
  roles: {
    rules: ['/api/v1/role, GET', '/api/v1/role/:id, GET'],
    calls: [
      'GET /api/v1/role?pageIndex=1&pageSize=10',
      'GET /api/v1/role/2',
      'GET /api/v1/roleMenuTreeselect/2',
      'GET /api/v1/roleDeptTreeselect/2',
    ],
  },
  dictionaries: {
    rules: ['/api/v1/dict/type, GET', '/api/v1/dict/data, GET'],
    calls: [
      'GET /api/v1/dict/type?pageIndex=1&pageSize=10',
      'GET /api/v1/dict/type-option-select',
      'GET /api/v1/dict/data?pageIndex=1&pageSize=10',
    ],
  },
}

/** What no ordinary role may call, although go-admin lets everyone who is logged in. */
const closed = [
  'PUT /api/v1/sys-user',
  'GET /api/v1/gen/preview/1',
  'GET /api/v1/gen/toproject/1',
  'GET /api/v1/db/tables/page',
  'GET /api/v1/sys/tables/page',
  'PUT /api/v1/set-config',
  'PUT /api/v1/role-status',
  'PUT /api/v1/roledatascope',
  'GET /api/v1/job/start/1',
  'GET /api/v1/metrics',
  'POST /api/v1/dict-data/option-select',
  'DELETE /api/v1/roleMenuTreeselect/2',
]

async function startAsShipped() {
  const shipped = parse(readFileSync('config/go-admin.yaml', 'utf8'))
  const { captcha, refusals } = shipped
  return startPostern({
    rules: Object.entries(pages).flatMap(([page, { rules }]) =>
      rules.map((rule) => `${page.replace(' ', '-')}, ${rule}`),
    ),
    routes: shipped.routes.map((route: object) => ({ ...route, upstream: 'backend' })),
    config: { captcha, refusals },
  })
}

test('the shipped routes let each page make its calls, and keep the risky ones closed', async () => {
  const postern = await startAsShipped()
  for (const [page, { calls }] of Object.entries(pages)) {
    for (const line of calls) {
      const { body: text } = await postern.call(line, { as: page.replace(' ', '-') })
      expect({ page, line, refused: text.includes('"code":40') }).toEqual({
        page,
        line,
        refused: false,
      })
    }
  }
  for (const line of closed) {
    for (const as of ['users', 'roles']) {
      const { body: text } = await postern.call(line, { as })
      expect({ line, as, refused: text.includes('"code":403') }).toEqual({
        line,
        as,
        refused: true,
      })
    }
    const { body: text } = await postern.call(line, { as: 'admin' })
    expect({ line, refused: text.includes('"code":40') }).toEqual({ line, refused: false })
  }
  for (const line of ['GET /api/v1/getinfo', 'GET /api/v1/server-monitor']) {
    expect((await postern.call(line)).body).toContain('"code":401')
  }
})
