import { describe, expect, test } from 'vitest'
import {
  type DataScope,
  dataScopeName,
  dataScopeProblem,
  dataScopes,
  readDataScope,
} from '../src/kernel/data-scope.ts'

describe('data scope', () => {
  const self: DataScope = '5'

  test.each([
    ['1', 'all'],
    ['2', 'custom'],
    ['3', 'department'],
    ['4', 'department-and-below'],
    [self, 'self'],
  ] as const)('%s is also called %s', (number, name) => {
    expect([readDataScope(number), readDataScope(name), dataScopeName(number)]).toEqual([
      ...[number, number, name],
    ])
  })

  test('has five values', () => {
    expect(dataScopes).toHaveLength(5)
  })

  test('is read in any case', () => {
    expect(readDataScope('Self')).toBe('5')
  })

  test.each(['', '0', '6', '01', ' 1', 'own', 'toString'])('is not %j', (text) => {
    expect(readDataScope(text)).toBeUndefined()
    expect(dataScopeName(text)).toBeUndefined()
  })

  test('has a message that names all of them and the nearest', () => {
    expect(dataScopeProblem('departmnet')).toBe(
      '"departmnet" is not a data scope (defined: 1 all, 2 custom, 3 department, ' +
        '4 department-and-below, 5 self); did you mean department?',
    )
  })
})
