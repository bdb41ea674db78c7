import { describe, expect, test } from 'vitest'
import { roleOfGroups } from '../../../../src/login/methods/ldap/directory-credentials.ts'
import { nameBelow } from '../../../../src/login/methods/ldap/distinguished-name.ts'

const admins = 'CN=Gateway Admins,OU=Groups,DC=corp,DC=example'

describe('the role of a group', () => {
  test.each([
    'cn=gateway admins,ou=groups,dc=corp,dc=example',
    'CN = Gateway  Admins , OU=Groups,DC=corp,DC=example',
    'cn=Gateway\\20Admins,ou=Groups,dc=corp,dc=example',
    'cn=\\47ateway Admins;ou=Groups;dc=corp;dc=example',
    'Gateway Admins',
    'gateway admins',
  ])('is found by %s', (value) => {
    expect(roleOfGroups([{ value, role: 'admin' }], [admins])).toBe('admin')
  })

  test.each([
    'CN=Gateway Admins,OU=Other,DC=corp,DC=example',
    'CN=Gateway Admins',
    'CN=Gateway Admins\\,OU\\=Groups\\,DC\\=corp\\,DC\\=example',
    'OU=Groups,DC=corp,DC=example',
    'Groups',
    'Admins',
    '',
  ])('is not found by %j', (value) => {
    expect(roleOfGroups([{ value, role: 'admin' }], [admins])).toBeUndefined()
  })

  test.each([
    // A name that someone may choose for a group of their own.
    'cn=CN\\=Gateway Admins\\,OU\\=Groups\\,DC\\=corp\\,DC\\=example,ou=mine,dc=corp,dc=example',
    'cn=[["cn=gateway admins"]\\,["ou=groups"]\\,["dc=corp"]\\,["dc=example"]],ou=mine,dc=corp,dc=example',
    'cn=dn [["cn=gateway admins"]\\,["ou=groups"]\\,["dc=corp"]\\,["dc=example"]],ou=mine,dc=corp',
    'ou=Gateway Admins,ou=mine,dc=corp,dc=example',
  ])('is not that of the group %s', (group) => {
    expect(roleOfGroups([{ value: admins, role: 'admin' }], [group])).toBeUndefined()
  })

  test('is that of the first entry that matches, whatever the order of the groups', () => {
    const roles = [
      { value: 'ops', role: 'operator' },
      { value: 'staff', role: 'reader' },
    ]
    const groups = ['cn=staff,dc=example', 'cn=ops,dc=example']

    expect(roleOfGroups(roles, groups)).toBe('operator')
    expect(roleOfGroups(roles, groups.toReversed())).toBe('operator')
    expect(roleOfGroups(roles, ['cn=staff,dc=example'])).toBe('reader')
    expect(roleOfGroups(roles, [])).toBeUndefined()
  })

  test('compares values that are not DNs as names', () => {
    expect(roleOfGroups([{ value: 'Staff', role: 'reader' }], ['staff'])).toBe('reader')
    expect(roleOfGroups([{ value: '中文', role: 'reader' }], ['cn=\\E4\\B8\\AD\\E6\\96\\87'])).toBe(
      'reader',
    )
  })
})

describe('the name of a group', () => {
  const base = 'OU=Groups,DC=corp'

  test.each([
    ['CN=Gateway Admins,OU=Groups,DC=corp', 'Gateway Admins'],
    ['cn = Staff , ou = groups , dc=CORP', 'Staff'],
    ['cn=a\\,b,ou=groups,dc=corp', 'a,b'],
    ['cn=\\C3\\B8l,ou=groups,dc=corp', 'øl'],
  ])('is the cn of %s', (dn, name) => {
    expect(nameBelow(dn, base)).toBe(name)
  })

  test.each([
    'cn=admins,ou=other,ou=groups,dc=corp',
    'cn=admins,ou=groups,dc=corp,dc=example',
    'cn=admins,dc=corp',
    'cn=admins+ou=x,ou=groups,dc=corp',
    'ou=admins,ou=groups,dc=corp',
    'cn=admins\\,ou=groups,dc=corp',
    'ou=groups,dc=corp',
    'admins',
    '',
  ])('is not in %j', (dn) => {
    expect(nameBelow(dn, base)).toBeUndefined()
    expect(nameBelow(dn, undefined)).toBeUndefined()
  })
})
