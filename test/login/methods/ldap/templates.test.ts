import { expect, test } from 'vitest'
import {
  filledDn,
  filledFilter,
  nameComparisons,
} from '../../../../src/login/methods/ldap/templates.ts'

test('a template escapes what a filter would interpret, and fills a value in once', () => {
  const fill = (username: string) =>
    filledFilter('(&(uid={username})(cn={dn}))', { username, dn: 'x' })

  expect(fill('a*(b)\\\0')).toBe('(&(uid=a\\2a\\28b\\29\\5c\\00)(cn=x))')
  expect(fill('{dn}')).toBe('(&(uid={dn})(cn=x))')
  expect(fill('$&$1')).toBe('(&(uid=$&$1)(cn=x))')
})

test('a template escapes what a DN would interpret', () => {
  const fill = (username: string) => filledDn('uid={username},dc=example', { username })

  expect(fill('a,b+c="d"\\<e>;#f')).toBe(
    'uid=a\\2cb\\2bc\\3d\\22d\\22\\5c\\3ce\\3e\\3b\\23f,dc=example',
  )
  expect(fill(' a ')).toBe('uid=\\20a\\20,dc=example')
})

test('a template knows which attributes a filter compares with the typed name', () => {
  expect(nameComparisons('(|(uid={username})(mail={username}@x.example))')).toEqual([
    { attribute: 'uid', form: '{username}' },
    { attribute: 'mail', form: '{username}@x.example' },
  ])
  expect(nameComparisons('(uid=*{username}*)')).toEqual([])
})
