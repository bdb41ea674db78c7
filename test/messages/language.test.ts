import { describe, expect, test } from 'vitest'
import { bestLanguage } from '../../src/messages/language.ts'

const tags = ['en', 'zh', 'zh-hk', 'pt-br'] as const

describe('the language for an Accept-Language header (RFC 9110 12.5.4, RFC 4647 3.4)', () => {
  test.each([
    ['zh', 'zh'],
    ['zh-CN,zh;q=0.9,en;q=0.8', 'zh'],
    ['ZH-cn', 'zh'],
    ['zh-TW', 'zh'],
    ['zh-Hant-TW', 'zh'],
    ['zh-HK', 'zh-hk'],
    ['zh-Hant-x-private', 'zh'],
    ['zh-x-hk', 'zh'],
    ['pt-BR', 'pt-br'],
    ['en-US,zh;q=0.9', 'en'],
    ['fr,de;q=0.9,zh;q=0.1', 'zh'],
    ['en;q=0.5, zh;q=0.8', 'zh'],
    ['en;q=0.5,zh', 'zh'],
    ['zh;q=0.5,en;q=0.5', 'zh'],
    ['zh ; q=0.5 , en ; q=0.4', 'zh'],
    ['zh;q=1.000', 'zh'],
    ['zh;q=0.', 'en'],
    ['*', 'en'],
    ['*;q=0.5,zh', 'zh'],
    ['zh;q=0.1,*;q=0.5', 'en'],
    ['en;q=0,*', 'zh'],
    ['en;q=0', 'en'],
    ['zh;q=0', 'en'],
    ['zh-CN,zh;q=0', 'en'],
  ])('%s is %s', (header, expected) => {
    expect(bestLanguage(header, tags)).toBe(expected)
  })

  test.each([
    ['nothing', ''],
    ['commas', ',,,,'],
    ['a language that it lacks', 'fr'],
    ['a prefix that is not a subtag', 'zhx'],
    ['a longer tag of ours', 'pt'],
    ['a quality that is not one', 'zh;q=x'],
    ['a quality above one', 'zh;q=2'],
    ['a negative quality', 'zh;q=-1'],
    ['another parameter', 'zh;level=1'],
    ['an underscore', 'zh_CN'],
    ['a space', 'z h'],
    ['a subtag of nine letters', 'zh-abcdefghi'],
    ['what the runtime calls by that name', '__proto__, constructor, toString'],
  ])('%s is the first', (_, header) => {
    expect(bestLanguage(header, tags)).toBe('en')
  })

  test('a malformed range spoils no other', () => {
    expect(bestLanguage('!!, zh;q=x, zh-TW;q=0.3', tags)).toBe('zh')
  })

  test('only the first twenty ranges count', () => {
    const others = Array.from({ length: 20 }, () => 'fr').join(',')

    expect(bestLanguage(`${others},zh`, tags)).toBe('en')
    expect(bestLanguage(`${others.slice(3)},zh`, tags)).toBe('zh')
  })

  test('a header of more than 500 characters is not read', () => {
    expect(bestLanguage(`zh,${' '.repeat(490)}`, tags)).toBe('zh')
    expect(bestLanguage(`zh,${' '.repeat(500)}`, tags)).toBe('en')
  })
})
