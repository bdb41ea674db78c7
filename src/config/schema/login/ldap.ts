import { LDAP_ATTRIBUTE, LDAP_URL, METHOD_NAME, SERVER_NAME } from '../patterns.ts'
import {
  choice,
  DAY_MS,
  flag,
  group,
  integer,
  list,
  milliseconds,
  optionalFile,
  optionalGroup,
  optionalString,
  section,
  string,
} from '../setting-builders.ts'
import { Type } from '../type.ts'

const shown = (description: string) => Type.String({ minLength: 1, maxLength: 1024, description })
const attribute = (value: string, description: string) =>
  Type.String({ default: value, maxLength: 128, pattern: LDAP_ATTRIBUTE, description })

const search = group('Finds the entry of a person by the typed name. Unset: set userDn.', {
  base: shown('DN of the entry under which people are searched for.'),
  filter: string(
    { default: '(&(objectClass=person)(uid={username}))', minLength: 1, maxLength: 1024 },
    'Filter that finds one person. {username} is what the user typed, escaped, and must be compared as a whole: (uid={username}).',
  ),
  scope: choice(
    ['sub', 'one'],
    'How deep to search. sub: the whole tree under the base; one: its children.',
  ),
})

const groups = group('Groups of a person, for roles. Unset: none.', {
  attribute: optionalString(
    { maxLength: 128, pattern: LDAP_ATTRIBUTE },
    'Attribute of the person that lists the groups, such as memberOf. Unset: set base.',
  ),
  base: Type.Optional(
    shown('DN of the entry under which groups are searched for. Unset: set attribute.'),
  ),
  filter: string(
    { default: '(member={dn})', minLength: 1, maxLength: 1024 },
    'Filter that finds the groups of a person. {dn} is the DN of the person, {username} the name. With Active Directory, (member:1.2.840.113556.1.4.1941:={dn}) finds nested groups in one search.',
  ),
  nested: flag(
    false,
    'Search for the groups of each group as well, up to 10 levels and 1000 groups.',
  ),
})

const role = group('Maps a group to a role.', {
  value: string(
    { minLength: 1, maxLength: 1024 },
    'DN of a group, compared as directories do, or its cn. A cn matches groups of that name anywhere in the directory.',
  ),
  role: string({ minLength: 1, maxLength: 128 }, 'Role key that members of the group get.'),
})

export const ldapSetting = optionalGroup(
  'LDAP directory, such as OpenLDAP or Active Directory, that verifies names and passwords. Unset: no directory.',
  {
    name: string(
      { default: 'ldap', pattern: METHOD_NAME },
      'Name of the directory in logs, metrics and links of accounts.',
    ),
    urls: list(
      string(
        { maxLength: 512, pattern: LDAP_URL },
        'Server: ldaps://host:636, or ldap://host:389 with startTls.',
      ),
      { minItems: 1, maxItems: 10 },
      'Servers of the directory. One that fails is asked last for 30 seconds.',
    ),
    startTls: flag(
      false,
      'Start TLS on ldap:// connections. Without it, ldap:// is accepted for loopback addresses only.',
    ),
    caFile: optionalFile(
      'Path of the PEM certificates of trusted authorities. Read at every connection. Unset: those that Node ships.',
    ),
    serverName: optionalString(
      { maxLength: 253, pattern: SERVER_NAME },
      'Name sent as SNI, which the certificates must have. Unset: the host of the URL.',
    ),
    bindDn: Type.Optional(
      shown(
        'DN, or user principal name, of the service account that searches. Unset: people read their own entries.',
      ),
    ),
    bindPassword: optionalString(
      { minLength: 1, maxLength: 1024, writeOnly: true },
      'Password of the service account. Required with bindDn. Unset: no service account.',
    ),
    search: Type.Optional(search),
    userDn: Type.Optional(
      shown(
        'DN of a person, with {username}, such as uid={username},ou=people,dc=example,dc=com: binds without a search. Unset: set search.',
      ),
    ),
    userPrincipal: Type.Optional(
      shown(
        'User principal name of a person in Active Directory, such as {username}@corp.example: binds as it, and then searches for the entry. Unset: the service account searches.',
      ),
    ),
    attributes: section('Attributes of a person.', {
      subject: attribute(
        'entryUUID',
        'Attribute with the lasting ID of an entry, which links it to an account. With Active Directory: objectGUID.',
      ),
      username: attribute(
        'uid',
        'Attribute with the name of the account. With Active Directory: sAMAccountName.',
      ),
      displayName: attribute('displayName', 'Attribute with the name to show.'),
      email: attribute('mail', 'Attribute with the email address.'),
    }),
    groups: Type.Optional(groups),
    roles: Type.Optional(
      Type.Array(role, {
        minItems: 1,
        maxItems: 1000,
        description:
          'Roles by group, applied at each login. The first entry that matches wins; without a match the login is refused. Unset: accounts keep the role they have here.',
      }),
    ),
    create: flag(
      false,
      'Create an account at the first login of a person. false: link accounts with "postern user link".',
    ),
    linkByUsername: flag(
      false,
      'Link an account of the same name at the first login. Accounts of the role admin are never linked this way.',
    ),
    connectTimeoutMs: milliseconds(2000, 10, 'Timeout for connecting to one server, TLS included'),
    timeoutMs: integer(
      { default: 5000, from: 10, to: DAY_MS },
      'Timeout of everything that one login asks the directory, in milliseconds. With several servers, each gets a share.',
    ),
    maxConcurrent: integer(
      { default: 16, from: 1, to: 1000 },
      'Number of logins of one process that ask the directory at the same time. Ten times as many wait; further ones get 503.',
    ),
  },
)
