import { describe, expect, test } from 'vitest'
import { catalogs } from '../../src/messages/catalogs.ts'
import { createMessages } from '../../src/messages/messages.ts'

const asking = (language: string) => ['Host', 'a', 'accept-LANGUAGE', language]
const create = (settings: Partial<Parameters<typeof createMessages>[0]> = {}, origins = ['']) =>
  createMessages({ language: 'en', messages: {}, ...settings }, { origins })

describe('the catalogs', () => {
  const kinds = Object.keys(catalogs.en)

  test('have the same messages in every language', () => {
    for (const texts of Object.values(catalogs)) {
      expect(Object.keys(texts).toSorted()).toEqual(kinds.toSorted())
    }
  })

  test('are written in their language', () => {
    expect(Object.values(catalogs.en).filter((text) => !/^[ -~]+$/.test(text))).toEqual([])
    expect(Object.values(catalogs.zh).filter((text) => !/\p{Script=Han}/u.test(text))).toEqual([])
    // Full-width punctuation between Chinese words.
    expect(Object.values(catalogs.zh).filter((text) => /[,;:?!]|[。，]$/.test(text))).toEqual([])
  })

  test('fit a line', () => {
    for (const text of Object.values(catalogs).flatMap((texts) => Object.values(texts))) {
      expect(text.length).toBeLessThan(100)
      expect(text).toBe(text.trim())
    }
  })
})

describe('messages', () => {
  test('are in the language that the client asks for', () => {
    const messages = create()

    expect(messages.chosenBy(asking('zh-CN,zh;q=0.9'))['wrong-captcha']).toEqual({
      text: '验证码错误',
      headers: ['Content-Language', 'zh', 'Vary', 'Origin, Accept-Language'],
    })
    expect(messages.chosenBy(asking('fr'))).toBe(messages.usual)
    expect(messages.chosenBy([])).toBe(messages.usual)
    expect(messages.usual['wrong-captcha'].text).toBe('wrong captcha')
  })

  test('vary by origin only with CORS', () => {
    expect(create({}, []).usual.bug.headers).toEqual([
      'Content-Language',
      'en',
      'Vary',
      'Accept-Language',
    ])
  })

  test('are in the configured language for clients that ask for none', () => {
    const messages = create({ language: 'zh' })

    expect(messages.usual['wrong-captcha'].text).toBe('验证码错误')
    expect(messages.chosenBy(asking('en'))['wrong-captcha'].text).toBe('wrong captcha')
    expect(messages.chosenBy(asking('*'))).toBe(messages.usual)
  })

  test('are in the shorter language where the configured one has no texts of its own', () => {
    const messages = create({ language: 'zh-CN' })

    expect(messages.usual['wrong-captcha']).toMatchObject({
      text: '验证码错误',
      headers: expect.arrayContaining(['zh']),
    })
  })

  test('read two Accept-Language headers as one list', () => {
    const headers = ['Accept-Language', 'fr', 'Accept-Language', 'zh']

    expect(create().chosenBy(headers)['wrong-captcha'].text).toBe('验证码错误')
  })

  test('can have own texts in any language', () => {
    const messages = create({
      language: 'DE',
      messages: {
        en: { 'token-missing': 'sign in first' },
        'zh-HK': { 'token-missing': '請先登入' },
        de: { 'token-missing': 'Bitte melden Sie sich an' },
        'de-AT': { bug: 'Da ist was schiefgegangen' },
      },
    })
    const textOf = (language: string, kind: 'token-missing' | 'bug' | 'wrong-captcha') => {
      const { text, headers } = messages.chosenBy(asking(language))[kind]
      return [text, headers[1]]
    }

    expect(textOf('en-US', 'token-missing')).toEqual(['sign in first', 'en'])
    expect(textOf('zh-HK', 'token-missing')).toEqual(['請先登入', 'zh-HK'])
    // What a language lacks comes from its parent, then from the usual language, then from English.
    expect(textOf('zh-HK', 'wrong-captcha')).toEqual(['验证码错误', 'zh'])
    expect(textOf('de-AT', 'bug')).toEqual(['Da ist was schiefgegangen', 'de-AT'])
    expect(textOf('de-AT', 'token-missing')).toEqual(['Bitte melden Sie sich an', 'de'])
    expect(textOf('de-AT', 'wrong-captcha')).toEqual(['wrong captcha', 'en'])
    expect(textOf('fr', 'token-missing')).toEqual(['Bitte melden Sie sich an', 'de'])
  })
})
