import { expect, test } from 'vitest'
import { readOwnPath } from '../../src/admission/own-path.ts'

const elsewhere = [
  'https://evil.example/',
  '//evil.example',
  '///evil.example',
  '/\\evil.example',
  '/\\/evil.example',
  '\\\\evil.example',
  '/\t/evil.example',
  '/\n/evil.example',
  '/..//evil.example',
  '/./x',
  '/a/../..//evil.example',
  '/%2e%2e//evil.example',
  'javascript:alert(1)',
  'data:text/html,x',
  'evil.example',
  '?x',
  '#x',
  '/x#https://evil.example',
  '@evil.example',
  ' //evil.example',
  `/${'x'.repeat(3000)}`,
  '/x\u0000',
  '/é//x',
]

test.each(elsewhere)('a browser is never sent to %j', (target) => {
  const own = readOwnPath(target)
  // `/é` has a canonical form; what a browser resolves must be on this host in any case.
  expect(own === undefined || new URL(own, 'https://own.test').origin === 'https://own.test').toBe(
    true,
  )
  expect(own ?? '').not.toMatch(/^\/[/\\]|[\s\\#]/)
  expect(new URL(own ?? '/', 'https://own.test').host).toBe('own.test')
})

test.each([
  ['/', '/'],
  ['/a/b?c=//d', '/a/b?c=//d'],
  ['/%61', '/a'],
  ['/a%2fb', '/a%2Fb'],
  ['/a;x', '/a;x'],
  ['/a?', '/a'],
])('%s is a path of this host', (target, own) => {
  expect(readOwnPath(target)).toBe(own)
})
