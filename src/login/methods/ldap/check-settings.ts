import type { DeepPartial } from '../../../kernel/deep-partial.ts'
import { isLoopback } from '../../../kernel/key-url.ts'
import { subject } from '../../../kernel/quote.ts'
import type { Say } from '../../method-kind.ts'
import type { LdapLogin } from './settings.ts'

type LdapDraft = NonNullable<DeepPartial<LdapLogin>['ldap']>

/** Passwords travel encrypted, one way to find people is configured, and names are compared as a whole. */
export function checkLdap({ ldap }: DeepPartial<LdapLogin>, sayOfLogin: Say): void {
  if (ldap === undefined) return
  const say: Say = (key, problem) => sayOfLogin(`ldap.${key}`, problem)
  checkEncryption(ldap, say)
  checkAccount(ldap, say)
  checkWay(ldap, say)
  checkFilter(ldap, say)
  checkGroups(ldap, say)
}

function checkEncryption({ urls, startTls }: LdapDraft, say: Say): void {
  urls?.forEach((url, index) => {
    const { protocol, hostname } = URL.parse(url ?? '') ?? {}
    if (protocol === 'ldaps:' && startTls === true) {
      say(`urls[${index}]`, ': ldaps:// has TLS already; use ldap:// with startTls')
    }
    if (protocol !== 'ldap:' || startTls === true || isLoopback(hostname ?? '')) return
    say(`urls[${index}]`, ' would send passwords in plain text; use ldaps://, or set startTls')
  })
}

function checkAccount({ bindDn, bindPassword }: LdapDraft, say: Say): void {
  // A bind without a password succeeds on some servers, as anonymous (RFC 4513 5.1.2).
  if (bindDn !== undefined && bindPassword === undefined) {
    const cure = 'set POSTERN_LOGIN__LDAP__BINDPASSWORD or POSTERN_LOGIN__LDAP__BINDPASSWORD_FILE'
    say('bindPassword', ` is required with bindDn: ${cure}`)
  }
  if (bindDn === undefined && bindPassword !== undefined) {
    say('bindDn', ' is required with bindPassword')
  }
  if (bindDn !== undefined && !/[=@\\]/.test(bindDn)) {
    say('bindDn', `: ${subject(bindDn)} is not a DN such as cn=reader,dc=example,dc=com`)
  }
}

function checkWay(ldap: LdapDraft, say: Say): void {
  const { search, userDn, userPrincipal, bindDn } = ldap
  if (userDn !== undefined && userPrincipal !== undefined) {
    say('userPrincipal', ' and userDn cannot be combined; keep one')
  } else if (userDn !== undefined) {
    if (search !== undefined) say('search', ' is not used with userDn; remove one')
    if (!/=\{username\}(?:,|$)/.test(userDn)) {
      say('userDn', ' must contain ={username}, such as uid={username},ou=people,dc=example,dc=com')
    }
  } else if (search === undefined) {
    say('search', ' is required: give its base, or set userDn')
  } else if (userPrincipal === undefined && bindDn === undefined) {
    say('bindDn', ' is required with search: give the account that searches')
  }
  if (userPrincipal !== undefined && !/^\{username\}@.+$|^.+\\\{username\}$/.test(userPrincipal)) {
    say('userPrincipal', ' must be {username}@domain or DOMAIN\\{username}')
  }
}

/** Else spellings that the directory ignores would each have their own limit of guesses. */
function checkFilter({ search }: LdapDraft, say: Say): void {
  const { filter } = search ?? {}
  if (filter === undefined) return
  const all = filter.match(/\{username\}/g)?.length ?? 0
  const compared = filter.match(/\([A-Za-z][\w.-]*=[^()*\\]*\{username\}[^()*\\]*\)/g)?.length ?? 0
  if (all === 0 || all !== compared) {
    say('search.filter', ' must compare {username} as a whole, such as (uid={username})')
  } else if (!isBalanced(filter)) {
    say('search.filter', ' has parentheses that do not match')
  }
}

function checkGroups({ groups, roles, create }: LdapDraft, say: Say): void {
  if (create === true && roles === undefined) {
    say('roles', ' is required with create: a new account needs a role')
  }
  if (groups === undefined) {
    if (roles !== undefined) say('groups', ' is required with roles: say how groups are found')
    return
  }
  const { attribute, base, filter = '', nested } = groups
  if (attribute === undefined && base === undefined) {
    say('groups', ' needs attribute, such as memberOf, or base')
  }
  if (attribute !== undefined && base !== undefined) {
    say('groups.base', ' and attribute cannot be combined; keep one')
  }
  if (attribute !== undefined && nested === true) {
    say('groups.nested', ' needs base: an attribute lists the direct groups only')
  }
  const own = nested === true ? /\{dn\}/ : /\{(?:dn|username)\}/
  if (base !== undefined && !own.test(filter)) {
    say('groups.filter', ' must contain {dn}, such as (member={dn})')
  } else if (!isBalanced(filter)) {
    say('groups.filter', ' has parentheses that do not match')
  }
}

function isBalanced(filter: string): boolean {
  let depth = 0
  for (const character of filter) {
    if (character === '(') depth++
    if (character === ')') depth--
    if (depth < 0) return false
  }
  return depth === 0 && filter.startsWith('(')
}
