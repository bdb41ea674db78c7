import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { decide } from '../../src/policy/decide.ts'
import { compile } from '../../src/policy/engine/compile.ts'
import { parsePolicySet } from '../../src/policy/set/policy-set.ts'
import { shippedModel } from './policy-text.ts'

const set = parsePolicySet(
  readdirSync('policies', { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => ({ name, text: readFileSync(`policies/${name}`, 'utf8') })),
)

describe('the policies that Postern ships', () => {
  test('have the model of the product family', () => {
    expect(set.model).toEqual(shippedModel)
  })

  // Spec, Permission exclusion list: login, logout, fetching a captcha, viewing one's own profile.
  test('exclude the public endpoints of the specification and nothing else', () => {
    expect(set.exclusions.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /api/v1/login',
      'POST /api/v1/logout',
      'GET /api/v1/getCaptcha',
      'GET /api/v1/user/profile',
    ])
  })

  const expectations: { role: string; method: string; path: string; expect: string }[] = parse(
    readFileSync('policies/tests/orders_test.yaml', 'utf8'),
  )
  test.each(expectations)(
    '$expect $role to $method $path',
    ({ role, method, path, expect: wanted }) => {
      const { allowed } = decide({ roleKey: role, method, path }, compile(set))

      expect(allowed ? 'allow' : 'deny').toBe(wanted)
    },
  )
})
