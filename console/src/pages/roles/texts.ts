import { plural } from '../../lib/plural.ts'

const en = {
  about: 'The roles that accounts can have. The policy says what each one may do.',
  key: 'Key',
  name: 'Name',
  id: 'ID',
  dataScope: 'Data scope',
  people: 'People',
  users: (enabled: number, disabled: number) =>
    disabled === 0 ? String(enabled) : `${enabled} (+ ${disabled} disabled)`,
  services: 'Service accounts',
  service: 'service account',
  may: 'What it may do',
  nothing: 'The database has no roles',
  accounts: 'Accounts',
  moreAccounts: (count: number) =>
    plural('en', count, { one: 'and 1 more account', other: `and ${count} more accounts` }),
  sameKey: 'Other roles with this key',
  created: 'Created',
  updated: 'Changed',
}

const zh: typeof en = {
  about: '账号可以拥有的角色。策略决定每个角色可以做什么。',
  key: '标识',
  name: '名称',
  id: 'ID',
  dataScope: '数据范围',
  people: '人员',
  users: (enabled, disabled) =>
    disabled === 0 ? String(enabled) : `${enabled}（另有 ${disabled} 个已停用）`,
  services: '服务账号',
  service: '服务账号',
  may: '可以做什么',
  nothing: '数据库中没有角色',
  accounts: '账号',
  moreAccounts: (count) => `另有 ${count} 个账号`,
  sameKey: '标识相同的其他角色',
  created: '创建时间',
  updated: '修改时间',
}

export const texts = { en, zh }
