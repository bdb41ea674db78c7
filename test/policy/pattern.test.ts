import { describe, expect, test } from 'vitest'
import { patternProblem } from '../../src/policy/rule/pattern.ts'

const both = { keyMatch: true, keyMatch2: true }

describe('a path pattern', () => {
  test.each([
    '/',
    '/*',
    '/api/v1/orders',
    '/api/v1/orders/',
    '/api/v1/orders/:id',
    '/api/v1/orders/:order_id/items/:item-id',
    '/api/v1/orders/:id/*',
    '/api/v1/public/*',
    '/api/v1/pub*',
    '/api/v1/file.json',
    '/api/v1/.well-known/x',
    '/api/v1/orders:batch',
    '/api/v1/a%20b',
    "/api/v1/~a!b&c'd,e=f@g",
    // For routes that allow them.
    '/api/v1/a%2Fb',
    '/api/v1/group%2F*',
    '/api/v1/a;v=1/*',
  ])('may be %s', (pattern) => {
    expect(patternProblem(pattern, both)).toBeUndefined()
  })

  test.each([
    // security.md T169: casbin never returns from the first two.
    ['a parameter without a name', '/api/v1/:'],
    ['a parameter without a name in between', '/api/v1/:/x'],
    ['a parameter with more behind it', '/api/v1/:id.json'],
    ['two parameters in a segment', '/api/v1/:id:verb'],
    // T170: characters that casbin hands to a regular expression.
    ['an opening brace', '/api/v1/{'],
    ['a parameter in braces', '/api/v1/{id}'],
    ['a bracket', '/api/v1/('],
    ['a square bracket', '/api/v1/[a'],
    ['a bar', '/api/v1/a|b'],
    ['a bar before a star', '/api/v1/a|.*/etc'],
    ['any character any number of times', '.*'],
    ['the same after a slash', '/.*'],
    ['the same after a word', '/api/v1/a.*'],
    ['nested quantifiers', '(a+)+$'],
    ['nested quantifiers in a path', '/(a+)+$'],
    ['a plus', '/a+'],
    ['a dollar', '/a$'],
    ['a caret', '/^a'],
    ['a question mark', '/a?'],
    ['a backslash', '/a\\b'],
    // T040: each star multiplied the ways to match.
    ['stars in between', '/api/v1/*/*/*/*/*/*/x'],
    ['a star in between', '/api/*/orders'],
    ['a star inside a segment', '/api/a*b'],
    ['two stars', '/api/**'],
    ['a star after a parameter', '/api/:id*'],
    ['a prefix after a parameter', '/api/:id/foo*'],
    ['no slash in front', 'api/v1/orders'],
    ['nothing but a star', '*'],
    ['nothing', ''],
    ['an empty segment', '/api//orders'],
    ['two slashes in front', '//api/orders'],
    ['a dot segment', '/api/./orders'],
    ['two dots', '/api/../orders'],
    ['two dots at the end', '/api/..'],
    ['an encoded slash in lower case', '/api%2forders'],
    ['an encoded slash at the end', '/api/orders%2F'],
    ['dots before an encoded slash', '/api/..%2Forders'],
    ['a percent sign that is encoded twice', '/api%25252Forders'],
    ['dots before a semicolon', '/api/..;v=1/orders'],
    ['an encoded semicolon', '/api%3Bv=1'],
    ['a number sign', '/api#orders'],
    ['a space', '/api/a b'],
    ['a control character', '/api/a\u0000b'],
    ['a character beyond ASCII', '/api/é'],
    ['an escape that needs none', '/api/%61'],
    ['an escape in lower case', '/api/%c3%a9'],
    ['half an escape before the star', '/api/%C3*'],
    ['more than 1024 characters', `/${'a'.repeat(1024)}`],
  ])('is refused with %s', (_, pattern) => {
    expect(patternProblem(pattern, both)).toBeTypeOf('string')
  })

  test('that is spelled another way than request paths are is answered with their spelling', () => {
    expect(patternProblem('/api/%6frders/%c3%a9', both)).toContain('/api/orders/%C3%A9')
  })

  test.each([
    ['a parameter without keyMatch2', '/api/:id', { keyMatch: true, keyMatch2: false }],
    ['a prefix without keyMatch', '/api/foo*', { keyMatch: false, keyMatch2: true }],
    ['a star with neither', '/api/*', { keyMatch: false, keyMatch2: false }],
  ])('is refused when the model would take %s literally', (_, pattern, match) => {
    expect(patternProblem(pattern, match)).toBeTypeOf('string')
    expect(patternProblem(pattern, both)).toBeUndefined()
  })
})
