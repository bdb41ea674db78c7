import { describe, expect, test } from 'vitest'
import type { Model } from '../../src/policy/model/model.ts'
import { formatModel } from '../../src/policy/set/format.ts'
import { policyFiles, policySet, problemsOf, shippedModel, widestModel } from './policy-text.ts'

const shipped = formatModel(shippedModel)
const withMatcher = (matcher: string) => shipped.replace(/^m = .*$/m, `m = ${matcher}`)
const withEffect = (effect: string) => shipped.replace(/^e = .*$/m, `e = ${effect}`)
const modelOf = (modelText: string) => policySet({ modelText }).model
const linesOf = (modelText: string) =>
  problemsOf(policyFiles({ modelText })).map(({ file, line }) => `${file}:${line}`)

describe('a model of the index grammar', () => {
  const truths = [true, false]
  const models: Model[] = truths.flatMap((inheritance) =>
    truths.flatMap((keyMatch) =>
      truths.flatMap((keyMatch2) =>
        truths.flatMap((anyMethod) =>
          [
            { effectColumn: false, denyOverrides: false },
            { effectColumn: true, denyOverrides: false },
            { effectColumn: true, denyOverrides: true },
          ].map((effect) => ({ inheritance, path: { keyMatch, keyMatch2 }, anyMethod, ...effect })),
        ),
      ),
    ),
  )

  test.each(models)('is read back as it was written: %o', (model) => {
    expect(policySet({ model }).model).toEqual(model)
  })

  test.each([
    [
      'other spacing',
      withMatcher(
        'r.sub==p.sub&&(keyMatch2(r.obj,p.obj)||keyMatch(r.obj,p.obj))&&(r.act==p.act||p.act=="*")',
      ),
    ],
    [
      'another order',
      withMatcher(
        '(p.act == "*" || p.act == r.act) && (keyMatch(r.obj, p.obj) || keyMatch2(r.obj, p.obj)) && p.sub == r.sub',
      ),
    ],
    [
      'more brackets',
      withMatcher(
        '((r.sub == p.sub) && ((keyMatch2(r.obj, p.obj)) || keyMatch(r.obj, p.obj)) && (r.act == p.act || p.act == "*"))',
      ),
    ],
    ['single quotes', shipped.replaceAll('"*"', "'*'")],
    [
      'an equality that keyMatch includes',
      withMatcher(
        'r.sub == p.sub && (r.obj == p.obj || keyMatch2(r.obj, p.obj) || keyMatch(r.obj, p.obj)) && (r.act == p.act || p.act == "*")',
      ),
    ],
    [
      'other names',
      shipped
        .replaceAll(/\bsub\b/g, 'role')
        .replaceAll(/\bobj\b/g, 'path')
        .replaceAll(/\bact\b/g, 'method'),
    ],
    ['comments', `# first\n${shipped.replace('[matchers]', '; more\n[matchers] # here')}`],
    ['a continued line', shipped.replace(' && (keyMatch2', ' && \\\n  (keyMatch2')],
    ['carriage returns and a byte order mark', `\uFEFF${shipped.replaceAll('\n', '\r\n')}`],
    [
      'other sections first',
      shipped
        .split(/(?=\[)/)
        .reverse()
        .join(''),
    ],
    ['an effect with other spacing', withEffect('some( where(p.eft==allow) )')],
  ])('means the same with %s', (_, modelText) => {
    expect(modelOf(modelText)).toEqual(shippedModel)
    expect(policySet({ modelText }).revision).toBe(policySet({}).revision)
  })
})

describe('a model that is refused', () => {
  test.each([
    [
      'a matcher that evaluates policy rows',
      withMatcher('eval(p.sub) && keyMatch(r.obj, p.obj) && r.act == p.act'),
    ],
    ['no condition on the role', withMatcher('keyMatch(r.obj, p.obj) && r.act == p.act')],
    ['no condition on the path', withMatcher('r.sub == p.sub && r.act == p.act')],
    ['no condition on the method', withMatcher('r.sub == p.sub && keyMatch(r.obj, p.obj)')],
    [
      'only a star for the method',
      withMatcher('r.sub == p.sub && keyMatch(r.obj, p.obj) && p.act == "*"'),
    ],
    ['an unfinished matcher', withMatcher('r.sub == p.sub && (keyMatch(r.obj, p.obj) && r.act ==')],
    ['brackets without end', withMatcher('('.repeat(50_000))],
    [
      'g() without a role definition',
      withMatcher('g(r.sub, p.sub) && keyMatch(r.obj, p.obj) && r.act == p.act'),
    ],
    ['a role definition without g()', `${shipped}[role_definition]\ng = _, _\n`],
    ['roles with domains', formatModel(widestModel).replace('g = _, _', 'g = _, _, _')],
    ['an effect that allows by default', withEffect('!some(where (p.eft == deny))')],
    ['an effect by priority', withEffect('priority(p.eft) || deny')],
    ['an unknown effect', withEffect('some(where (p.eft == maybe))')],
    [
      'a deny effect without its column',
      withEffect('some(where (p.eft == allow)) && !some(where (p.eft == deny))'),
    ],
    ['two request fields', shipped.replace('r = sub, obj, act', 'r = sub, obj')],
    [
      'a second policy definition',
      shipped.replace('p = sub, obj, act', 'p = sub, obj, act\np2 = sub, obj'),
    ],
    [
      'a definition twice',
      shipped.replace('p = sub, obj, act', 'p = sub, obj, act\np = sub, obj, act'),
    ],
    ['an unknown section', `${shipped}[constraints]\nc = 1\n`],
    ['a section twice', `${shipped}[matchers]\n`],
    ['a line that is nothing', `${shipped}whatever\n`],
    ['a line before any section', `r = sub, obj, act\n${shipped}`],
    ['no matcher', shipped.replace(/^m = .*$/m, '')],
    ['nothing at all', ''],
  ])('has %s', (_, modelText) => {
    expect(linesOf(modelText)).not.toEqual([])
    expect(linesOf(modelText).every((place) => place.startsWith('model.conf:'))).toBe(true)
  })

  test('is told every piece that cannot be used', () => {
    const modelText = withMatcher(
      'ipMatch(r.sub, p.sub) && globMatch(r.obj, p.obj) && r.act == p.act',
    )

    const messages = problemsOf(policyFiles({ modelText })).map(({ message }) => message)

    expect(messages).toEqual([
      expect.stringContaining('ipMatch(r.sub, p.sub) is not supported'),
      expect.stringContaining('globMatch(r.obj, p.obj) is not supported'),
    ])
  })

  test('is told about its fields, its effect and its matcher at once', () => {
    const modelText = withMatcher('r.sub == p.sub').replace(/^e = .*$/m, 'e = maybe')

    expect(linesOf(`${modelText}[constraints]\n`)).toHaveLength(4)
  })

  test('does not keep the lines from being checked', () => {
    const problems = problemsOf(policyFiles({ modelText: '', lines: ['p, editor, /api/:, GET'] }))

    expect(problems.map(({ file }) => file)).toContain('policy.csv')
  })
})
