import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { goAdminExclusions } from '../../src/policy/import/import-exclusions.ts'
import { startPostern } from '../support/start-postern.ts'
import { beforeLogin, pages } from './pages.ts'

/** What no page calls this way, and no ordinary role may. */
const alsoClosed = [
  'GET /api/v1/metrics',
  'POST /api/v1/dict-data/option-select',
  'DELETE /api/v1/roleMenuTreeselect/2',
  'GET /api/v1/public/uploadFile',
]

/** The shipped configuration, with the exclusions that "policy import" writes. Each role has one page. */
async function startAsShipped() {
  const shipped = parse(readFileSync('config/go-admin.yaml', 'utf8'))
  const { captcha, refusals } = shipped
  return startPostern({
    rules: Object.entries(pages).flatMap(([page, { rules }]) =>
      rules.map((rule) => `${page}, ${rule}`),
    ),
    exclusions: parse(goAdminExclusions(false).text),
    routes: shipped.routes.map((route: object) => ({ ...route, upstream: 'backend' })),
    config: { captcha, refusals, endpoints: { ...shipped.endpoints, profile: 'backend' } },
  })
}

test('the shipped routes let each page make its calls, and keep the risky ones closed', async () => {
  const postern = await startAsShipped()
  const check = (line: string, as: string | undefined, code?: string) => async () => {
    const { body } = await postern.call(line, as === undefined ? {} : { as })
    const refused = /"code":(401|403|404)/.exec(body)?.[1]
    expect({ line, as, refused }).toEqual({ line, as, refused: code })
  }
  const checks = [
    ...beforeLogin.map((line) => check(line, undefined)),
    ...alsoClosed.map((line) => check(line, 'users', '403')),
    ...Object.entries(pages).flatMap(([page, { calls, closed = [] }]) => [
      ...calls.map((line) => check(line, page)),
      ...calls.map((line) => check(line, undefined, '401')),
      ...closed.flatMap((line) => [check(line, page, '403'), check(line, 'admin')]),
    ]),
  ]
  while (checks.length > 0) await Promise.all(checks.splice(0, 20).map((run) => run()))
})
