import { describe, expect, test } from 'vitest'
import { readDatabaseUrl } from '../../src/kernel/database-url.ts'

describe('a database.url', () => {
  test.each([
    ['postgres://u:p@db/x', ['postgres://u:p@db/x'], 'any', false],
    ['postgresql://db', ['postgresql://db'], 'any', false],
    [
      'postgres://u:p,w@a:1,b:2/x?sslmode=require&target_session_attrs=read-write',
      ['postgres://u:p,w@a:1/x?sslmode=require', 'postgres://u:p,w@b:2/x?sslmode=require'],
      'read-write',
      false,
    ],
    [
      'postgres://a,[::1]:5433/x?target_session_attrs=primary&load_balance_hosts=random',
      ['postgres://a/x', 'postgres://[::1]:5433/x'],
      'primary',
      true,
    ],
  ])('%s names its hosts', (url, urls, session, random) => {
    expect(readDatabaseUrl(url)).toEqual({ urls, session, random })
  })

  test.each([
    ['postgres://u:se cret%zz@a:70000/x', 'percent-encode'],
    ['postgres://u:secret@a:1,b:x/x', 'percent-encode'],
    ['postgres://u:secret@a,,b/x', 'empty host'],
    ['postgres://u:secret@a,b/x?target_session_attrs=standby', 'target_session_attrs'],
    ['postgres://u:secret@a,b/x?target_session_attrs=', 'target_session_attrs'],
    ['postgres://u:secret@a,b/x?load_balance_hosts=yes', 'load_balance_hosts'],
  ])('%s is refused with the reason and without the password', (url, reason) => {
    const said = readDatabaseUrl(url)

    expect(said).toContain(reason)
    expect(said).not.toContain('secret')
  })
})
